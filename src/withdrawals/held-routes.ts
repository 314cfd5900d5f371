import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { formatInstant } from '../kernel/instant.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Command } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import { OPERATOR } from '../policies/policy.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { transferShape } from '../transfers/schema.ts';
import { presentTransfer, type Transfer } from '../transfers/transfer.ts';
import { REFUSED_WITHDRAWAL, RELEASED_WITHDRAWAL, WITHDRAWAL_NOTE } from './examples.ts';
import { type HeldDecision, refuseCommand, releaseCommand } from './held.ts';
import { listNotes } from './note-store.ts';
import type { EndingTables } from './outcome.ts';
import { HeldRequest, NoteList } from './schema.ts';

export type HeldParts = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly transfers: Pick<TransferAccess, 'byId' | 'find'>;
  readonly networks: Networks;
  readonly tables: EndingTables;
};

async function committed(writePath: WritePath, command: Command<Transfer>): Promise<Transfer> {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
  return outcome.answer;
}

/** Gives the approvals that a policy of this owner requires. */
export async function releaseHeld(parts: HeldParts, id: string, decision: HeldDecision): Promise<Transfer> {
  return committed(parts.writePath, releaseCommand({ id }, decision, parts.tables));
}

/** Ends a withdrawal that a policy of this owner holds. */
export async function refuseHeld(parts: HeldParts, id: string, decision: HeldDecision): Promise<Transfer> {
  const transfer = await parts.transfers.byId(id);
  if (transfer === undefined) throw notFound('withdrawal', id);
  return committed(parts.writePath, refuseCommand(transfer, decision, parts.tables));
}

const REASON = 'The invoice was checked with the payee: CASE-2311.';
const decisionOf = (caller: Caller, owner: string, reason: string): HeldDecision => ({
  owner,
  actor: actorOf(caller),
  reason,
});

/** For the operator, and for customers whose own policies hold their withdrawals. */
function decisionRoutes(parts: HeldParts, whose: 'operator' | 'own'): Route[] {
  const isOperator = whose === 'operator';
  const path = isOperator ? '/v2/operator/withdrawals/{id}' : '/v2/policies/held-withdrawals/{id}';
  const common = {
    method: 'POST',
    tag: isOperator ? 'Operator' : 'Policies',
    scope: isOperator ? 'operator:approve' : 'policy:approve_withdrawal',
    params: IdParams,
    body: HeldRequest,
    example: { reason: REASON },
    response: transferShape(parts.networks),
    problems: ['not-found', 'invalid-state'],
  } as const;
  const name = (verb: string): string => `${verb}${isOperator ? '' : 'Own'}HeldWithdrawal`;
  const present = (transfer: Transfer) => presentTransfer(transfer, parts.tables.assets) as never;
  async function decide(
    act: typeof releaseHeld,
    { caller, params, body }: { caller: Caller; params: { id: string }; body: { reason: string } },
  ) {
    if (!isOperator && (await parts.transfers.find(caller.customerId, params.id)) === undefined)
      throw notFound('withdrawal', params.id);
    const owner = isOperator ? OPERATOR : caller.customerId;
    return { body: present(await act(parts, params.id, decisionOf(caller, owner, body.reason))) };
  }
  const which = isOperator ? 'a policy of the operator' : 'a policy of your own';
  return [
    route({
      ...common,
      path: `${path}/release`,
      operationId: name('release'),
      summary: 'Release a withdrawal that a policy holds',
      description: `Gives the approval that ${which} requires. The withdrawal is submitted, unless something else holds it.`,
      answer: RELEASED_WITHDRAWAL,
      handle: (request) => decide(releaseHeld, request),
    }),
    route({
      ...common,
      path: `${path}/refuse`,
      operationId: name('refuse'),
      summary: 'Refuse a withdrawal that a policy holds',
      description: `Ends a withdrawal that waits for the approval that ${which} requires, as FAILED. Its total returns.`,
      answer: REFUSED_WITHDRAWAL,
      handle: (request) => decide(refuseHeld, request),
    }),
  ];
}

export function heldRoutes(parts: HeldParts): Route[] {
  return [
    ...decisionRoutes(parts, 'operator'),
    ...decisionRoutes(parts, 'own'),
    route({
      method: 'GET',
      path: '/v2/operator/withdrawals/{id}/notes',
      operationId: 'listWithdrawalNotes',
      tag: 'Operator',
      summary: 'List what only operators may know about a withdrawal',
      description:
        'The reasons of the rail, of screening and of those who released or refused it, oldest first. The customer is shown the public form in `secondary_status`.',
      scope: 'operator:read',
      params: IdParams,
      response: NoteList,
      problems: ['not-found'],
      answer: { items: [WITHDRAWAL_NOTE] },
      async handle({ params }) {
        const transfer = await parts.transfers.byId(params.id);
        if (transfer?.direction !== 'DEBIT' || transfer.groupId) throw notFound('withdrawal', params.id);
        const notes = await listNotes(parts.database, params.id, LIMITS.withdrawalNotesMax);
        const items = notes.map(({ kind, detail, notedBy, atNs }) => ({
          kind,
          detail,
          noted_by: notedBy,
          created_at: formatInstant(atNs),
        }));
        return { body: { items } };
      },
    }),
  ];
}
