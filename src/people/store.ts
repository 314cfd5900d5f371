import { textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { selectList } from '../database/list.ts';
import { createParameters } from '../database/select.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Person } from './person.ts';

type Row = Omit<Person, 'name' | 'email' | 'passkeys'> & {
  readonly details: string;
  readonly passkeys: bigint;
};
type Details = Pick<Person, 'name' | 'email'>;

const COLUMNS = `p.id, p.customer_id as "customerId", p.roles, p.details, p.created_at_ns as "createdAtNs",
  p.updated_at_ns as "updatedAtNs", p.disabled_at_ns as "disabledAtNs",
  (select count(*) from passkeys k where k.person_id = p.id) as passkeys`;

const placeOf = (id: string): string => `people.details:${id}`;

function opened(vault: Vault, { details, passkeys, ...row }: Row): Person {
  const { name, email } = JSON.parse(vault.open(details, placeOf(row.id))) as Details;
  return { ...row, name, email, passkeys: Number(passkeys) };
}

const sealed = (vault: Vault, id: string, { name, email }: Details): string =>
  vault.seal(JSON.stringify({ name, email }), placeOf(id));

/** Addresses are compared without regard to case, as nearly every mail server does. */
export const emailDigest = (vault: Vault, email: string): string =>
  vault.digester('person email')(email.toLowerCase());

export const subjectDigest = (vault: Vault, issuer: string, subject: string): string =>
  vault.digester('person subject')(JSON.stringify([issuer, subject]));

/** False if an active person of the same customer has the email. */
export async function insertPerson(
  tx: Queryable,
  person: Pick<Person, 'id' | 'customerId' | 'roles' | 'name' | 'email'>,
): Promise<boolean> {
  const vault = tx.vault();
  const rows = await tx.query(
    `insert into people (id, customer_id, roles, details, email_digest, created_at_ns, updated_at_ns)
     select $1, $2, $3::text[], $4, $5, now_ns, now_ns from (select ${CLOCK_NS} as now_ns) as clock
     on conflict do nothing returning id`,
    [
      person.id,
      person.customerId,
      textArray(person.roles),
      sealed(vault, person.id, person),
      emailDigest(vault, person.email),
    ],
  );
  return rows.length === 1;
}

/** Of a customer; with null, of anybody: for operators. */
export async function findPerson(
  tx: Queryable,
  customerId: string | null,
  id: string,
): Promise<Person | undefined> {
  const [row] =
    customerId === null
      ? await tx.query<Row>(`select ${COLUMNS} from people p where p.id = $1`, [id])
      : await tx.query<Row>(`select ${COLUMNS} from people p where p.id = $1 and p.customer_id = $2`, [
          id,
          customerId,
        ]);
  return row && opened(tx.vault(), row);
}

/** Active people with that email, of all customers and of the operator. */
export async function peopleByEmail(tx: Queryable, email: string): Promise<Person[]> {
  const rows = await tx.query<Row>(
    `select ${COLUMNS} from people p where p.email_digest = $1 and p.disabled_at_ns is null order by p.id`,
    [emailDigest(tx.vault(), email)],
  );
  return rows.map((row) => opened(tx.vault(), row));
}

export async function personBySubject(
  tx: Queryable,
  issuer: string,
  subject: string,
): Promise<Person | undefined> {
  const [row] = await tx.query<Row>(
    `select ${COLUMNS} from people p where p.subject_digest = $1 and p.disabled_at_ns is null`,
    [subjectDigest(tx.vault(), issuer, subject)],
  );
  return row && opened(tx.vault(), row);
}

/** False if the person has another subject already. */
export async function bindSubject(
  tx: Queryable,
  id: string,
  issuer: string,
  subject: string,
): Promise<boolean> {
  const rows = await tx.query(
    `update people set subject_digest = $2 where id = $1 and subject_digest is null and disabled_at_ns is null
     returning id`,
    [id, subjectDigest(tx.vault(), issuer, subject)],
  );
  return rows.length === 1;
}

/** Whether a person can approve requests of operators. */
export async function hasApprovingPerson(tx: Queryable): Promise<boolean> {
  const rows = await tx.query(
    `select from people where customer_id is null and 'APPROVER' = any (roles) and disabled_at_ns is null limit 1`,
  );
  return rows.length > 0;
}

/** The database's time. */
export async function nowOf(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

/** Locked until the transaction ends: one change of a person, and one sign-in, after the other. */
export async function lockPerson(tx: Transaction, id: string): Promise<Person | undefined> {
  // A statement that waits for a lock sees other tables as they were before it waited.
  await tx.query('select from people where id = $1 for update', [id]);
  const [row] = await tx.query<Row>(`select ${COLUMNS} from people p where p.id = $1`, [id]);
  return row && opened(tx.vault(), row);
}

export async function countPeople(tx: Queryable, customerId: string | null): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>(
    'select count(*) as count from people where customer_id is not distinct from $1 and disabled_at_ns is null',
    [customerId],
  );
  return Number(row!.count);
}

export async function updatePerson(
  tx: Transaction,
  { id, roles, name, email }: Pick<Person, 'id' | 'roles' | 'name' | 'email'>,
): Promise<void> {
  await tx.query(
    `update people set roles = $2::text[], details = $3, updated_at_ns = greatest(updated_at_ns + 1, ${CLOCK_NS})
     where id = $1`,
    [id, textArray(roles), sealed(tx.vault(), id, { name, email })],
  );
}

export async function disablePerson(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `update people set disabled_at_ns = ${CLOCK_NS}, updated_at_ns = greatest(updated_at_ns + 1, ${CLOCK_NS})
     where id = $1 and disabled_at_ns is null`,
    [id],
  );
}

const FILTERS = { ids: { column: 'p.id', type: 'uuid', few: true } } as const;

export type PeopleFilters = { readonly ids?: readonly string[]; readonly customer_id?: string };

/** Of a customer; with null, of all of them and of the operator: for operators. */
export async function listPeople(
  database: Queryable,
  customerId: string | null,
  filters: PeopleFilters,
  page: Page,
): Promise<Found<Person>> {
  const parameters = createParameters();
  const owner = customerId ?? filters.customer_id;
  const found = await selectList<Row, keyof typeof FILTERS>(database, page, {
    table: 'people',
    alias: 'p',
    columns: COLUMNS,
    owner: 'p.customer_id as "customerId"',
    parameters,
    own: owner === undefined ? 'true' : `p.customer_id = ${parameters.add(owner)}`,
    filters: FILTERS,
    wanted: { ids: filters.ids },
  });
  return { ...found, rows: found.rows.map((row) => opened(database.vault(), row)) };
}

/** All people of one customer, of the operator (null), or of everybody (undefined), for the command line. */
export async function allPeople(tx: Queryable, customerId?: string | null): Promise<Person[]> {
  const rows = await tx.query<Row>(
    `select ${COLUMNS} from people p where $1 or p.customer_id is not distinct from $2::uuid
     order by p.created_at_ns, p.id`,
    [customerId === undefined, customerId ?? null],
  );
  return rows.map((row) => opened(tx.vault(), row));
}
