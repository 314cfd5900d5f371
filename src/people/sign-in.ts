import type { Database, Transaction } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { newToken } from './administration.ts';
import { personActor, recordPerson } from './changes.ts';
import type { Method, Source } from './person.ts';
import { endOldestSessions, endSessionOfToken, insertSession } from './session-store.ts';
import { lockPerson } from './store.ts';

/** Says no more than the person knows: whether a passkey or an email is known to the service is nobody else's business. */
export function refused(detail: string): Problem {
  return new Problem('unauthenticated', detail, { scheme: 'Passkey' });
}

export type SignIn = {
  readonly personId: string;
  readonly method: Method;
  readonly source: Source;
  readonly authenticatedAgoMs?: number;
  /** The session that the browser had before, which ends. */
  readonly previousToken?: string | undefined;
};

/** Starts a session with a new token, never with one that the browser sent. Returns the token, which is not stored. */
export async function startSession(tx: Transaction, signIn: SignIn): Promise<string> {
  const { personId, method, source, authenticatedAgoMs = 0, previousToken } = signIn;
  const person = await lockPerson(tx, personId);
  if (person === undefined || person.disabledAtNs !== null) throw refused('The person is disabled.');
  if (previousToken !== undefined) await endSessionOfToken(tx, previousToken);
  await endOldestSessions(tx, personId, LIMITS.sessionsMax - 1);
  const token = newToken();
  await insertSession(tx, { id: newId(), token, personId, method, source, authenticatedAgoMs });
  await recordPerson(tx, personActor(person, source.address), 'signed_in', personId);
  return token;
}

export const signIn = (database: Database, request: SignIn): Promise<string> =>
  database.transaction((tx) => startSession(tx, request));
