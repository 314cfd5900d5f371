import type { Proposal, Propose } from '../approvals/action.ts';
import { createVoting, type Voting } from '../approvals/voting.ts';
import { declareClientActions } from '../auth/client-actions.ts';
import { hasApprovingClient } from '../auth/store.ts';
import type { Database } from '../database/database.ts';
import { createFourEyes } from '../kernel/privileged.ts';
import { OPERATOR_ID } from '../kernel/route.ts';
import { runAlone } from '../ledger/alone.ts';
import { declarePeopleActions } from '../people/actions.ts';
import { placeOf } from '../people/place.ts';
import { hasApprovingPerson } from '../people/store.ts';
import { type Invocation, show } from './command-line.ts';

/** Changes of clients and people on the command line, which others approve where four eyes are required. */

/** Where people sign in: links start with it. The sandbox without a public URL is on this machine. */
export const signInUrl = ({ config }: Invocation): string =>
  placeOf(config.publicUrl ?? `http://localhost:${config.port}`).url;

/** At once: there is nothing to wait for, because commands of this kind move no value. */
const alone = (database: Database) => ({
  submit: async <Answer>(command: Parameters<typeof runAlone<Answer>>[1]) => ({
    replayed: false as const,
    answer: await runAlone(database, command),
  }),
});

/** On a new installation nobody can approve anything, so the first clients and people need no approval. */
const canApprove = async (database: Database): Promise<boolean> =>
  (await hasApprovingClient(database)) || (await hasApprovingPerson(database));

async function actionsOf(invocation: Invocation, database: Database) {
  const { config } = invocation;
  const fourEyes = (await canApprove(database)) ? config.fourEyes : createFourEyes(0);
  const voting: Voting = createVoting({ database, writePath: alone(database), fourEyes });
  const { declare } = voting;
  const clients = declareClientActions({ database, declare, simulates: config.mode === 'sandbox' });
  const people = declarePeopleActions({ database, declare, signInUrl: () => signInUrl(invocation) });
  return { voting, clients, people: people.operator };
}

type Actions = Awaited<ReturnType<typeof actionsOf>>;

/** True if the change waits for the approval of others, which is printed. Otherwise the command makes it. */
export async function waits<Asked extends Proposal>(
  invocation: Invocation,
  database: Database,
  which: (actions: Actions) => { readonly propose: Propose<Asked>; readonly handover?: unknown },
  asked: Asked,
): Promise<boolean> {
  const { propose, handover } = which(await actionsOf(invocation, database));
  const actor = database.actor!;
  const proposed = await propose({ customerId: OPERATOR_ID, clientId: actor.id, actor }, asked);
  if (proposed === undefined) return false;
  const request = JSON.parse(proposed.body) as { readonly id: string };
  const lines = [
    `Nothing is changed yet: request ${request.id} waits for the approval of somebody else.`,
    ...(handover === undefined
      ? []
      : [`What it makes for you is printed by: ferry approvals claim ${request.id}`]),
  ];
  show(invocation, request, lines.join('\n'));
  return true;
}

/** What a request of this user has made, once. */
export async function claim(invocation: Invocation, database: Database, id: string): Promise<object> {
  const { voting } = await actionsOf(invocation, database);
  return voting.claim(id, database.actor!);
}
