import { AdministrationError, ownClient } from '../auth/administration.ts';
import { findCustomer } from '../auth/customers.ts';
import type { Database } from '../database/database.ts';
import { isId, newId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import {
  addPerson,
  bindAccount,
  changePerson,
  type EnrolmentLink,
  revokeSessions as endSessionsOf,
  newLink,
  newToken,
  removePerson,
} from '../people/administration.ts';
import { type Person, presentPerson, presentSession } from '../people/person.ts';
import { ROLES, type Role } from '../people/roles.ts';
import { findSessions } from '../people/session-store.ts';
import { allPeople, findPerson, peopleByEmail } from '../people/store.ts';
import { vaultOf } from '../vault.ts';
import {
  CommandError,
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
  withDatabase,
} from './command-line.ts';
import { signInUrl, waits } from './four-eyes.ts';

/** People, who sign in instead of using a client. */

/** With names and addresses readable. Problems become the sentences that operations answer. */
function withPeople(invocation: Invocation, work: (database: Database) => Promise<void>): Promise<number> {
  return withDatabase(invocation, async (database) => {
    await vaultOf(invocation.config, database);
    try {
      await work(database);
    } catch (error) {
      throw error instanceof Problem ? new CommandError(error.message.replace(/^\//, '--')) : error;
    }
    return 0;
  });
}

function rolesOf({ options }: Invocation): Role[] {
  const named = ((options.role as string[] | undefined) ?? []).map((role) => role.toUpperCase());
  const unknown = named.find((role) => !(ROLES as readonly string[]).includes(role));
  const known = ROLES.join(', ').toLowerCase();
  if (unknown !== undefined) throw new UsageError(`Unknown role "${unknown.toLowerCase()}": use ${known}.`);
  if (named.length === 0) throw new UsageError(`--role is required: ${known}.`);
  return named as Role[];
}

function onePerson({ positionals }: Invocation): string {
  const [named, extra] = positionals;
  if (named === undefined || extra !== undefined)
    throw new UsageError('Expected the id or the email address of one person.');
  return named;
}

async function personNamed(database: Database, named: string): Promise<Person> {
  const byId = isId(named) ? await findPerson(database, null, named) : undefined;
  const found = byId === undefined ? await peopleByEmail(database, named) : [byId];
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new CommandError(`Several people have the email address ${named}. Use an id: ${ids}.`);
  }
  if (found[0] === undefined)
    throw new CommandError(`There is no person with the id or the email address "${named}".`);
  return found[0];
}

/** Undefined: everybody. Null: the operator. */
async function customerNamed(
  database: Database,
  { options }: Invocation,
): Promise<string | null | undefined> {
  const { customer: named, operator } = options;
  if (operator === true && named !== undefined)
    throw new UsageError('Use either --customer or --operator, not both.');
  if (operator === true) return null;
  if (typeof named !== 'string') return undefined;
  const customer = await findCustomer(database, named);
  if (customer === undefined)
    throw new AdministrationError(`There is no customer with the id or name "${named}".`);
  return customer.id;
}

const linkData = ({ url, expiresAtNs }: EnrolmentLink) => ({
  enrolment_url: url,
  enrolment_expires_at: formatInstant(expiresAtNs),
});

const linkLines = ({ url, expiresAtNs }: EnrolmentLink): string =>
  [
    `Enrolment link: ${url}`,
    `It can be used once, until ${formatInstant(expiresAtNs)}, and is not shown again.`,
  ].join('\n');

const OF_CUSTOMER = {
  customer: { value: 'id or name', help: 'the customer of the person' },
  operator: { help: 'a person of the operator, for all customers' },
} as const;

const ROLE = {
  role: { value: 'role', multiple: true, help: `${ROLES.join(', ').toLowerCase()}; can be repeated` },
} as const;

async function addUser(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const [name, email, roles] = [text(invocation, 'name'), text(invocation, 'email'), rolesOf(invocation)];
  return withPeople(invocation, async (database) => {
    const customerId = await customerNamed(database, invocation);
    if (customerId === undefined) throw new UsageError('--customer or --operator is required.');
    const person = { customerId, name, email, roles };
    const ofCustomer = customerId === null ? {} : { customer_id: customerId };
    const asked = { person_id: newId(), ...ofCustomer, name, email, roles, salt: newToken() };
    if (await waits(invocation, database, ({ people }) => people.create, asked)) return;
    const added = await addPerson(database, person, signInUrl(invocation));
    const lines = `Added ${email}: ${added.person.id}\n${linkLines(added.link)}`;
    show(invocation, { ...presentPerson(added.person), ...linkData(added.link) }, lines);
  });
}

async function listUsers(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  return withPeople(invocation, async (database) => {
    const people = await allPeople(database, await customerNamed(database, invocation));
    const data = people.map(presentPerson);
    const rows = data.map((one) => [
      one.id,
      one.customer_id ?? 'operator',
      one.status.toLowerCase(),
      one.roles.join(',').toLowerCase(),
      one.email,
      one.name,
    ]);
    show(invocation, data, table([['ID', 'CUSTOMER', 'STATE', 'ROLES', 'EMAIL', 'NAME'], ...rows]));
  });
}

async function listSessions(invocation: Invocation): Promise<number> {
  const named = onePerson(invocation);
  return withPeople(invocation, async (database) => {
    const sessions = await findSessions(database, (await personNamed(database, named)).id);
    const data = sessions.map(presentSession);
    const rows = data.map((one) => [one.id, one.method, one.created_at, one.used_at, one.address ?? '']);
    show(invocation, data, table([['ID', 'METHOD', 'SINCE', 'LAST USED', 'ADDRESS'], ...rows]));
  });
}

async function revokeSessions(invocation: Invocation): Promise<number> {
  const named = onePerson(invocation);
  const { session } = invocation.options as { session?: string };
  if (session !== undefined && !isId(session)) throw new UsageError('--session must be the id of a session.');
  return withPeople(invocation, async (database) => {
    const { id, email } = await personNamed(database, named);
    const ended = await endSessionsOf(database, id, { session });
    show(invocation, { id, ended }, `Ended ${counted(ended, 'session')} of ${email}.`);
  });
}

async function makeLink(invocation: Invocation): Promise<number> {
  const named = onePerson(invocation);
  const removesPasskeys = invocation.options['remove-passkeys'] === true;
  return withPeople(invocation, async (database) => {
    const { id } = await personNamed(database, named);
    const asked = { person_id: id, removes_passkeys: removesPasskeys };
    if (await waits(invocation, database, ({ people }) => people.link, asked)) return;
    const link = await newLink(database, id, signInUrl(invocation), { removesPasskeys });
    show(invocation, { id, ...linkData(link) }, linkLines(link));
  });
}

async function nameSubject(invocation: Invocation): Promise<number> {
  const named = onePerson(invocation);
  const subject = text(invocation, 'subject');
  const { openIdProvider } = invocation.config;
  if (openIdProvider === undefined) throw new CommandError('FERRY_CONFIG has no openid_provider.');
  return withPeople(invocation, async (database) => {
    const { id, email } = await personNamed(database, named);
    const account = { issuer: openIdProvider.issuer, subject };
    const asked = { person_id: id, account, salt: newToken() };
    if (await waits(invocation, database, ({ people }) => people.change, asked)) return;
    if (!(await bindAccount(database, id, account)))
      throw new CommandError(`${email} has another account at ${openIdProvider.name}, or is disabled.`);
    show(invocation, { id, subject }, `${email} signs in at ${openIdProvider.name} as ${subject}.`);
  });
}

async function changeOwner(invocation: Invocation): Promise<number> {
  const [clientId, extra] = invocation.positionals;
  if (clientId === undefined || extra !== undefined) throw new UsageError('Expected one client_id.');
  const named = text(invocation, 'person');
  return withPeople(invocation, async (database) => {
    const owner = named === 'none' ? null : await personNamed(database, named);
    const asked = { client_id: clientId, owner_person_id: owner?.id ?? null };
    if (await waits(invocation, database, ({ clients }) => clients.change, asked)) return;
    await ownClient(database, clientId, owner);
    const data = { client_id: clientId, owner_person_id: owner?.id ?? null };
    show(invocation, data, `${clientId} belongs to ${owner?.email ?? 'nobody in particular'}.`);
  });
}

export const PEOPLE_COMMANDS: readonly CommandLine[] = [
  {
    name: 'user add',
    summary: 'add a person who signs in, and print the enrolment link once',
    usage:
      'user add --name <name> --email <email> --role <role> … (--customer <id or name> | --operator) [--json]',
    details: 'The person opens the link and creates a passkey. There are no passwords. See docs/people.md.',
    options: {
      name: { value: 'name', help: 'name of the person' },
      email: { value: 'email', help: 'email address; with an OpenID provider, that of the account there' },
      ...ROLE,
      ...OF_CUSTOMER,
    },
    json: true,
    run: addUser,
  },
  {
    name: 'user list',
    summary: 'list the people',
    usage: 'user list [--customer <id or name> | --operator] [--json]',
    options: {
      customer: { value: 'id or name', help: 'only the people of this customer' },
      operator: { help: 'only the people of the operator' },
    },
    json: true,
    run: listUsers,
  },
  {
    name: 'user role',
    summary: 'replace the roles of a person; takes effect with the next request',
    usage: 'user role <id or email> --role <role> … [--json]',
    options: ROLE,
    json: true,
    async run(invocation) {
      const [named, roles] = [onePerson(invocation), rolesOf(invocation)];
      return withPeople(invocation, async (database) => {
        const person = await personNamed(database, named);
        const asked = { person_id: person.id, roles, salt: newToken() };
        if (await waits(invocation, database, ({ people }) => people.change, asked)) return;
        const changed = await changePerson(database, person.id, { roles });
        const lines = `${changed.email} is now ${changed.roles.join(', ').toLowerCase()}.`;
        show(invocation, presentPerson(changed), lines);
      });
    },
  },
  {
    name: 'user disable',
    summary: 'disable a person for good; all sessions end at once',
    usage: 'user disable <id or email> [--json]',
    json: true,
    async run(invocation) {
      const named = onePerson(invocation);
      return withPeople(invocation, async (database) => {
        const person = await removePerson(database, (await personNamed(database, named)).id);
        show(invocation, presentPerson(person), `Disabled ${person.email}.`);
      });
    },
  },
  {
    name: 'user link',
    summary: 'print a new enrolment link; the one before no longer works',
    usage: 'user link <id or email> [--remove-passkeys] [--json]',
    options: {
      'remove-passkeys': { help: 'for lost devices: all passkeys are removed, and all sessions end' },
    },
    json: true,
    run: makeLink,
  },
  {
    name: 'user subject',
    summary: 'name the account of a person at the OpenID provider, if its email address does not',
    usage: 'user subject <id or email> --subject <sub> [--json]',
    options: { subject: { value: 'sub', help: 'the sub claim of the account' } },
    json: true,
    run: nameSubject,
  },
  {
    name: 'user sessions',
    summary: 'list where a person is signed in',
    usage: 'user sessions <id or email> [--json]',
    json: true,
    run: listSessions,
  },
  {
    name: 'user revoke',
    summary: 'end the sessions of a person at once, or one of them',
    usage: 'user revoke <id or email> [--session <id>] [--json]',
    options: { session: { value: 'id', help: 'only this session' } },
    json: true,
    run: revokeSessions,
  },
  {
    name: 'client owner',
    summary: 'set the person that an API client belongs to: both count as one where two people are required',
    usage: 'client owner <client_id> --person <id or email or none> [--json]',
    options: { person: { value: 'id or email', help: 'of the same customer or of the operator; or "none"' } },
    json: true,
    run: changeOwner,
  },
];
