import { type Declare, type Maker, privileged } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { formatInstant } from '../kernel/instant.ts';
import { PRIVILEGED_ACTIONS } from '../kernel/privileged.ts';
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
  readonly declare: Declare;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly transfers: Pick<TransferAccess, 'byId' | 'find'>;
  readonly networks: Networks;
  readonly tables: EndingTables;
};

type Decided = { readonly id: string; readonly decision: HeldDecision };

/** Gives the approvals that a policy of this owner requires. */
const releasing = async ({ tables }: HeldParts, { id, decision }: Decided): Promise<Command<Transfer>> =>
  releaseCommand({ id }, decision, tables);

/** Ends a withdrawal that a policy of this owner holds. */
async function refusing(
  { transfers, tables }: HeldParts,
  { id, decision }: Decided,
): Promise<Command<Transfer>> {
  const transfer = await transfers.byId(id);
  if (transfer === undefined) throw notFound('withdrawal', id);
  return refuseCommand(transfer, decision, tables);
}

async function committed(writePath: WritePath, command: Command<Transfer>): Promise<Transfer> {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
  return outcome.answer;
}

export const releaseHeld = async (parts: HeldParts, id: string, decision: HeldDecision): Promise<Transfer> =>
  committed(parts.writePath, await releasing(parts, { id, decision }));

export const refuseHeld = async (parts: HeldParts, id: string, decision: HeldDecision): Promise<Transfer> =>
  committed(parts.writePath, await refusing(parts, { id, decision }));

const REASON = 'The invoice was checked with the payee: CASE-2311.';

type Asked = { readonly id: string; readonly reason: string };
type Decider = Pick<Maker, 'customerId' | 'actor'>;

/** Executes the decision, or proposes it where four eyes are required. */
function declareDecision(
  parts: HeldParts,
  name: 'withdrawal.release' | 'withdrawal.refuse' | 'own_withdrawal.release' | 'own_withdrawal.refuse',
  build: typeof refusing,
) {
  const isOperator = !name.startsWith('own_');
  async function commandOf(
    { customerId, actor }: Decider,
    { id, reason }: Asked,
  ): Promise<Command<Transfer>> {
    if (!isOperator && (await parts.transfers.find(customerId, id)) === undefined)
      throw notFound('withdrawal', id);
    return build(parts, { id, decision: { owner: isOperator ? OPERATOR : customerId, actor, reason } });
  }
  const propose = parts.declare<Asked, Transfer>({
    name,
    level: isOperator ? 'OPERATOR' : 'CUSTOMER',
    summary: ({ id, reason }) => `${PRIVILEGED_ACTIONS[name]}: ${id}. ${reason}`,
    command: commandOf,
    result: ({ id }) => ({ type: 'transfer', id }),
  });
  return async (caller: Caller, asked: Asked) => {
    const proposed = await propose(caller, asked);
    if (proposed !== undefined) return proposed;
    const command = await commandOf({ customerId: caller.customerId, actor: actorOf(caller) }, asked);
    const transfer = await committed(parts.writePath, command);
    return { body: presentTransfer(transfer, parts.tables.assets) as never };
  };
}

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
    problems: ['not-found', 'forbidden', 'invalid-state'],
  } as const;
  const name = (verb: string): string => `${verb}${isOperator ? '' : 'Own'}HeldWithdrawal`;
  const which = isOperator ? 'a policy of the operator' : 'a policy of your own';
  const releases = isOperator ? 'withdrawal.release' : 'own_withdrawal.release';
  const refuses = isOperator ? 'withdrawal.refuse' : 'own_withdrawal.refuse';
  const [release, refuse] = [
    declareDecision(parts, releases, releasing),
    declareDecision(parts, refuses, refusing),
  ];
  return [
    route({
      ...common,
      privileged: privileged(releases),
      path: `${path}/release`,
      operationId: name('release'),
      summary: 'Release a withdrawal that a policy holds',
      description: `Gives the approval that ${which} requires. The withdrawal is submitted, unless something else holds it. The person or client that requested the withdrawal cannot release it, nor can another client of the same person.`,
      answer: RELEASED_WITHDRAWAL,
      handle: ({ caller, params, body }) => release(caller, { id: params.id, reason: body.reason }),
    }),
    route({
      ...common,
      privileged: privileged(refuses),
      path: `${path}/refuse`,
      operationId: name('refuse'),
      summary: 'Refuse a withdrawal that a policy holds',
      description: `Ends a withdrawal that waits for the approval that ${which} requires, as FAILED. Its total returns.`,
      answer: REFUSED_WITHDRAWAL,
      handle: ({ caller, params, body }) => refuse(caller, { id: params.id, reason: body.reason }),
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
