import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { RailName } from '../rails/rail.ts';
import type { Direction } from './camt.ts';

/** What the bank has sent: files, booked entries, statements, and what an operator has to look at. */

export type ReceivedFile = {
  readonly id: string;
  readonly rail: RailName;
  readonly name: string;
  readonly sha256: string;
  /** Null if it is too large. */
  readonly bytes: Buffer | null;
  readonly message: string | null;
  readonly error: string | null;
};

const bytesPlace = (id: string): string => `bank_received.bytes:${id}`;

export async function isReceived(database: Queryable, rail: RailName, sha256: string): Promise<boolean> {
  const rows = await database.query('select 1 from bank_received where rail = $1 and sha256 = $2', [
    rail,
    sha256,
  ]);
  return rows.length > 0;
}

export async function insertReceived(tx: Queryable, file: ReceivedFile, now: Instant): Promise<void> {
  const { id, rail, name, sha256, bytes, message, error } = file;
  const sealed = bytes === null ? null : tx.vault().seal(bytes.toString('base64'), bytesPlace(id));
  await tx.query(
    `insert into bank_received (id, rail, name, sha256, bytes, message, error, received_at_ns)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, rail, name, sha256, sealed, message, error, now],
  );
}

export type EntryRow = {
  readonly account: string;
  readonly reference: string;
  readonly direction: Direction;
  readonly units: bigint;
  readonly bookedOn: string;
  /** Of the statement that has it. */
  readonly statementId?: string | null;
};

export const entryKey = ({ account, reference, direction }: Omit<EntryRow, 'units' | 'bookedOn'>): string =>
  `${account} ${direction} ${reference}`;

/** Those of the entries that another message had before, by their key. */
export async function knownEntries(
  tx: Queryable,
  rail: RailName,
  entries: readonly EntryRow[],
): Promise<ReadonlyMap<string, EntryRow>> {
  const rows = await tx.query<EntryRow>(
    `select e.account, e.reference, e.direction, e.units, e.booked_on as "bookedOn",
       e.statement_id as "statementId"
     from unnest($2::text[], $3::text[], $4::text[]) as k (account, reference, direction)
     join bank_entries e on e.rail = $1 and e.account = k.account and e.reference = k.reference and e.direction = k.direction`,
    [rail, ...columns(entries, { account: 'text', reference: 'text', direction: 'text' })],
  );
  return new Map(rows.map((row) => [entryKey(row), row]));
}

export type NewEntry = EntryRow & {
  readonly effect: 'DEPOSIT' | 'RETURN' | 'PAYMENT' | 'NONE';
  readonly key: string | null;
  /** Who sent it, and what is written on it. */
  readonly details: object;
  readonly statementId: string | null;
};

const detailsPlace = (rail: string, entry: Omit<EntryRow, 'units' | 'bookedOn'>): string =>
  `bank_entries.details:${rail} ${entryKey(entry)}`;

export async function insertEntries(
  tx: Queryable,
  {
    rail,
    asset,
    receivedId,
  }: { readonly rail: RailName; readonly asset: string; readonly receivedId: string },
  entries: readonly NewEntry[],
  now: Instant,
): Promise<void> {
  if (entries.length === 0) return;
  const vault = tx.vault();
  await tx.query(
    `insert into bank_entries (rail, account, reference, direction, asset, units, booked_on, effect, key, details, received_id,
       statement_id, created_at_ns)
     select $1, account, reference, direction, $2, units, booked_on, effect, key, details, $3, statement_id, $4
     from unnest($5::text[], $6::text[], $7::text[], $8::numeric[], $9::text[], $10::text[], $11::uuid[], $12::text[], $13::text[])
       as e (account, reference, direction, units, booked_on, effect, key, details, statement_id)`,
    [
      rail,
      asset,
      receivedId,
      now,
      ...columns(entries, {
        account: 'text',
        reference: 'text',
        direction: 'text',
        units: 'numeric',
        bookedOn: 'text',
        effect: 'text',
        key: 'uuid',
        details: (entry) => vault.seal(JSON.stringify(entry.details), detailsPlace(rail, entry)),
        statementId: 'text',
      }),
    ],
  );
}

/** Entries of notifications that a statement has now, too. */
export async function noteStatement(
  tx: Queryable,
  rail: RailName,
  entries: readonly EntryRow[],
  statementId: string,
): Promise<void> {
  await tx.query(
    `update bank_entries e set statement_id = $2
     from unnest($3::text[], $4::text[], $5::text[]) as k (account, reference, direction)
     where e.rail = $1 and e.account = k.account and e.reference = k.reference and e.direction = k.direction
       and e.statement_id is null`,
    [rail, statementId, ...columns(entries, { account: 'text', reference: 'text', direction: 'text' })],
  );
}

/** Payments that the bank has booked before. */
export async function bookedPayments(
  tx: Queryable,
  rail: RailName,
  keys: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.query<{ key: string }>(
    `select key from bank_entries where rail = $1 and effect = 'PAYMENT' and key in (select unnest($2::uuid[]))`,
    [
      rail,
      ...columns(
        keys.map((key) => ({ key })),
        { key: 'uuid' },
      ),
    ],
  );
  return new Set(rows.map(({ key }) => key));
}

export type StatementRow = {
  readonly account: string;
  readonly statementId: string;
  readonly openingUnits: bigint;
  readonly closingUnits: bigint;
  readonly closingDate: string;
};

const STATEMENT = `account, statement_id as "statementId", opening_units as "openingUnits", closing_units as "closingUnits",
  closing_date as "closingDate"`;

/** The statement before that day, and the one with the same id, if there are any. */
export async function neighbours(
  tx: Queryable,
  rail: RailName,
  { account, statementId, closingDate }: StatementRow,
): Promise<{ readonly before: StatementRow | undefined; readonly same: StatementRow | undefined }> {
  const [before] = await tx.query<StatementRow>(
    `select ${STATEMENT} from bank_statements where rail = $1 and account = $2 and closing_date <= $3 and statement_id <> $4
     order by closing_date desc, created_at_ns desc limit 1`,
    [rail, account, closingDate, statementId],
  );
  const [same] = await tx.query<StatementRow>(
    `select ${STATEMENT} from bank_statements where rail = $1 and account = $2 and statement_id = $3`,
    [rail, account, statementId],
  );
  return { before, same };
}

export async function insertStatement(
  tx: Queryable,
  {
    rail,
    asset,
    receivedId,
  }: { readonly rail: RailName; readonly asset: string; readonly receivedId: string },
  { account, statementId, openingUnits, closingUnits, closingDate }: StatementRow,
  now: Instant,
): Promise<void> {
  await tx.query(
    `insert into bank_statements (rail, account, statement_id, received_id, asset, opening_units, closing_units, closing_date,
       created_at_ns)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [rail, account, statementId, receivedId, asset, openingUnits, closingUnits, closingDate, now],
  );
}

export type OpenStatement = StatementRow & { readonly reconciled: boolean };

/** Statements whose lines are not beside the ledger yet, or whose closing balance was not compared, oldest first. */
export function openStatements(database: Queryable, rail: RailName, max: number): Promise<OpenStatement[]> {
  return database.query<OpenStatement>(
    `select ${STATEMENT}, reconciled from bank_statements
     where rail = $1 and (not reconciled or not compared) order by created_at_ns, statement_id limit $2`,
    [rail, max],
  );
}

type StatementName = Pick<StatementRow, 'account' | 'statementId'>;

/** The entries that this statement was the first one to have. */
export function linesOfStatement(
  database: Queryable,
  rail: RailName,
  { account, statementId }: StatementName,
): Promise<(EntryRow & { readonly key: string | null })[]> {
  return database.query(
    `select account, reference, direction, units, booked_on as "bookedOn", key from bank_entries
     where rail = $1 and account = $2 and statement_id = $3 order by reference, direction`,
    [rail, account, statementId],
  );
}

export async function markReconciled(
  tx: Queryable,
  rail: RailName,
  { account, statementId }: StatementName,
): Promise<void> {
  await tx.query(
    'update bank_statements set reconciled = true where rail = $1 and account = $2 and statement_id = $3',
    [rail, account, statementId],
  );
}

export async function markCompared(
  tx: Queryable,
  rail: RailName,
  { account, statementId }: StatementName,
): Promise<void> {
  await tx.query(
    'update bank_statements set compared = true where rail = $1 and account = $2 and statement_id = $3',
    [rail, account, statementId],
  );
}

export type Finding = {
  /** The same finding again has the same key. */
  readonly sourceKey: string;
  readonly kind: string;
  /** A sentence without names and account numbers. */
  readonly finding: string;
};

export async function insertFindings(
  tx: Queryable,
  rail: RailName,
  findings: readonly Finding[],
  receivedId: string | null,
  now: Instant,
): Promise<readonly { readonly finding: string }[]> {
  if (findings.length === 0) return [];
  const rows = findings.map((one) => ({ ...one, id: newId() }));
  return tx.query<{ finding: string }>(
    `insert into bank_findings (id, rail, source_key, kind, finding, received_id, created_at_ns)
     select id, $1, source_key, kind, finding, $2, $3
     from unnest($4::uuid[], $5::text[], $6::text[], $7::text[]) as f (id, source_key, kind, finding)
     on conflict (rail, source_key) do nothing returning finding`,
    [
      rail,
      receivedId,
      now,
      ...columns(rows, { id: 'uuid', sourceKey: 'text', kind: 'text', finding: 'text' }),
    ],
  );
}

export type FindingLine = Finding & { readonly createdAtNs: Instant };

export type AsideLine = { readonly name: string; readonly error: string; readonly receivedAtNs: Instant };

export function listAside(database: Database, rail: string, max: number): Promise<AsideLine[]> {
  return database.query<AsideLine>(
    `select name, error, received_at_ns as "receivedAtNs" from bank_received
     where rail = $1 and error is not null order by received_at_ns limit $2`,
    [rail, max],
  );
}

export function listStatements(
  database: Database,
  rail: string,
  max: number,
): Promise<(StatementRow & { readonly asset: string })[]> {
  return database.query(
    `select ${STATEMENT}, asset from bank_statements where rail = $1 order by closing_date desc, created_at_ns desc limit $2`,
    [rail, max],
  );
}

export function listFindings(database: Database, rail: string, max: number): Promise<FindingLine[]> {
  return database.query<FindingLine>(
    `select source_key as "sourceKey", kind, finding, created_at_ns as "createdAtNs"
     from bank_findings where rail = $1 order by created_at_ns limit $2`,
    [rail, max],
  );
}
