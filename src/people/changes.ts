import type { Database, Transaction } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import { type Actor, actorOf, workerActor } from '../kernel/actor.ts';
import type { Instant } from '../kernel/instant.ts';
import { OPERATOR_ID } from '../kernel/route.ts';
import { type Person, presentPerson } from './person.ts';
import { findPerson, nowOf } from './store.ts';

/** What the audit log shows of people: roles, status and passkeys. Names and addresses are personal data, and are not shown. */
export type PersonAction =
  | 'created'
  | 'changed'
  | 'disabled'
  | 'linked'
  | 'bound'
  | 'signed_in'
  | 'signed_out'
  | 'sessions_ended'
  | 'passkey_added'
  | 'passkey_renamed'
  | 'passkey_removed';

/** The service itself, where nobody else is named: the sandbox creates the people of its demo. */
const SERVICE = workerActor('people');

/** Who changes people on the command line. */
export const administratorOf = ({ actor }: Pick<Database, 'actor'>): Actor => actor ?? SERVICE;

/** A person who acts under /signin. */
export const personActor = (
  { id, customerId }: { readonly id: string; readonly customerId: string | null },
  from?: string,
  requestId?: string,
): Actor => actorOf({ kind: 'person', clientId: id, customerId: customerId ?? OPERATOR_ID, from, requestId });

/** In the transaction that makes the change, after it. */
export async function recordPerson(
  tx: Transaction,
  actor: Actor,
  action: PersonAction,
  personId: string,
): Promise<Person> {
  const person = (await findPerson(tx, null, personId))!;
  const { name: _, email: __, ...after } = presentPerson(person);
  const at: Instant = await nowOf(tx);
  const { customerId } = person;
  await recordChanges(tx, actor, [
    { action: `person.${action}`, customerId, resourceId: personId, at, after },
  ]);
  return person;
}
