import { randomBytes } from 'node:crypto';
import { findCustomer } from '../auth/customers.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Actor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { invalidRequest, notFound } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { administratorOf, recordPerson } from './changes.ts';
import { deleteLink, deletePasskeys, replaceLink } from './passkey-store.ts';
import type { Person } from './person.ts';
import type { Role } from './roles.ts';
import { disabledProblem, emailTaken, otherAccountProblem, personFaults, tooManyPeople } from './rules.ts';
import { endSessions } from './session-store.ts';
import { bindSubject, countPeople, disablePerson, insertPerson, lockPerson, updatePerson } from './store.ts';

/**
 * Changes of people, as the command line and administrators make them. Those whose name ends in `In` run inside a transaction, such
 * as that of the vote that approves them.
 */

export type NewPerson = {
  /** Null: of the operator. */
  readonly customerId: string | null;
  readonly name: string;
  readonly email: string;
  readonly roles: readonly Role[];
};

/** The token goes into the fragment of a URL, which browsers do not send: so no log of a proxy contains it. */
export type EnrolmentLink = { readonly url: string; readonly expiresAtNs: Instant };

const TOKEN_BYTES = 32;

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

async function makeLink(tx: Transaction, personId: string, signInUrl: string): Promise<EnrolmentLink> {
  const token = newToken();
  const expiresAtNs = await replaceLink(tx, personId, token);
  return { url: `${signInUrl}/signin/enrol#${token}`, expiresAtNs };
}

/** In the order of the table of roles, without duplicates. */
const unique = (roles: readonly Role[]): Role[] => [...new Set(roles)];

/** The customer of a new person, by whoever adds it; null is the operator, who may name any customer. */
export async function customerOfNew(
  database: Database,
  adding: string | null,
  named: string | undefined,
): Promise<string | null> {
  if (named === undefined) return adding;
  const isAllowed = adding === null ? (await findCustomer(database, named)) !== undefined : named === adding;
  if (!isAllowed) throw notFound('customer', named);
  return named;
}

/** Without a link. */
export async function addIn(tx: Transaction, actor: Actor, id: string, person: NewPerson): Promise<Person> {
  const faults = personFaults(person);
  if (faults.length > 0) throw invalidRequest(faults);
  if ((await countPeople(tx, person.customerId)) >= LIMITS.peopleMax) throw tooManyPeople();
  if (!(await insertPerson(tx, { ...person, id, roles: unique(person.roles) })))
    throw emailTaken(person.email);
  return recordPerson(tx, actor, 'created', id);
}

export function addPerson(
  database: Database,
  person: NewPerson,
  signInUrl: string,
  actor: Actor = administratorOf(database),
): Promise<{ readonly person: Person; readonly link: EnrolmentLink }> {
  return database.transaction(async (tx) => {
    const added = await addIn(tx, actor, newId(), person);
    return { person: added, link: await makeLink(tx, added.id, signInUrl) };
  });
}

/** Locked, and not disabled. */
export async function activePerson(tx: Transaction, id: string): Promise<Person> {
  const person = await lockPerson(tx, id);
  if (person === undefined) throw notFound('person', id);
  if (person.disabledAtNs !== null) throw disabledProblem(person);
  return person;
}

export type PersonChange = { readonly name?: string; readonly roles?: readonly Role[] };

/** Sessions go on with the new roles: every request reads them. */
export async function changeIn(
  tx: Transaction,
  actor: Actor,
  id: string,
  change: PersonChange,
): Promise<Person> {
  const faults = personFaults(change);
  if (faults.length > 0) throw invalidRequest(faults);
  const person = await activePerson(tx, id);
  const { name = person.name, roles = person.roles } = change;
  await updatePerson(tx, { ...person, name, roles: unique(roles) });
  return recordPerson(tx, actor, 'changed', id);
}

export function changePerson(
  database: Database,
  id: string,
  change: PersonChange,
  actor: Actor = administratorOf(database),
): Promise<Person> {
  return database.transaction((tx) => changeIn(tx, actor, id, change));
}

/** For good. Ends all sessions, and removes the passkeys and the link. A second call changes nothing. */
export function removePerson(
  database: Database,
  id: string,
  actor: Actor = administratorOf(database),
): Promise<Person> {
  return database.transaction(async (tx) => {
    const person = await lockPerson(tx, id);
    if (person === undefined) throw notFound('person', id);
    if (person.disabledAtNs !== null) return person;
    await disablePerson(tx, id);
    await endSessions(tx, id);
    await deletePasskeys(tx, id);
    await deleteLink(tx, id);
    return recordPerson(tx, actor, 'disabled', id);
  });
}

/** For a person whose devices are lost: nobody can sign in with them any more. */
export async function removePasskeysIn(tx: Transaction, actor: Actor, id: string): Promise<void> {
  await activePerson(tx, id);
  await deletePasskeys(tx, id);
  await endSessions(tx, id);
  await recordPerson(tx, actor, 'passkey_removed', id);
}

export async function linkIn(
  tx: Transaction,
  actor: Actor,
  id: string,
  signInUrl: string,
): Promise<EnrolmentLink> {
  await activePerson(tx, id);
  const link = await makeLink(tx, id, signInUrl);
  await recordPerson(tx, actor, 'linked', id);
  return link;
}

/** With `removesPasskeys`, the passkeys that the person has stop working. */
export function newLink(
  database: Database,
  id: string,
  signInUrl: string,
  {
    removesPasskeys = false,
    actor = administratorOf(database),
  }: { removesPasskeys?: boolean; actor?: Actor } = {},
): Promise<EnrolmentLink> {
  return database.transaction(async (tx) => {
    if (removesPasskeys) await removePasskeysIn(tx, actor, id);
    return linkIn(tx, actor, id, signInUrl);
  });
}

/** All sessions of the person, or one of them. Returns how many have ended. */
export function revokeSessions(
  database: Database,
  id: string,
  { session, actor = administratorOf(database) }: { session?: string | undefined; actor?: Actor } = {},
): Promise<number> {
  return database.transaction(async (tx) => {
    const ended = await endSessions(tx, id, session);
    if (ended > 0) await recordPerson(tx, actor, 'sessions_ended', id);
    return ended;
  });
}

/** An account at the OpenID provider. */
export type Account = { readonly issuer: string; readonly subject: string };

/** With the account the person can sign in, so it is a right like a role. */
export async function bindIn(tx: Transaction, actor: Actor, id: string, account: Account): Promise<Person> {
  const person = await activePerson(tx, id);
  if (!(await bindSubject(tx, id, account.issuer, account.subject))) throw otherAccountProblem(person);
  return recordPerson(tx, actor, 'bound', id);
}

/** Names the account of the person at the OpenID provider. False if it has another one, or is disabled. */
export function bindAccount(
  database: Database,
  id: string,
  { issuer, subject }: Account,
  actor: Actor = administratorOf(database),
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isBound = await bindSubject(tx, id, issuer, subject);
    if (isBound) await recordPerson(tx, actor, 'bound', id);
    return isBound;
  });
}
