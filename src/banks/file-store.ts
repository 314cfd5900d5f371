import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import type { RailName } from '../rails/rail.ts';
import { idOf } from './ids.ts';

/**
 * Files of payments:
 *
 *            the bytes lie at the bank         the name that the bank reads
 *            under a name that it ignores      has been given to them           the bank has answered
 *   MADE ───────────────────────────> STAGED ───────────────────> UPLOADED ────────────────> ACKNOWLEDGED | PART | REJECTED
 *                                                                    │   no answer, or one that is about another copy
 *                                                                    └─────> ASKED: an operator asks the bank ─────^
 */
export type FileState =
  | 'MADE'
  | 'STAGED'
  | 'UPLOADED'
  | 'ACKNOWLEDGED'
  | 'PART'
  | 'REJECTED'
  | 'ASKED'
  /** The bank has refused all of it, and an operator decides whether its payments are sent again in another file. */
  | 'HELD'
  /** Never staged: a party to one of its payments was frozen. The payments wait for another file. */
  | 'DISSOLVED';

export type NewFile = {
  readonly id: string;
  readonly rail: RailName;
  readonly name: string;
  /** Null: the digits of its id. */
  readonly messageId: string | null;
  readonly text: string;
  readonly sha256: string;
  readonly executionDate: string;
  readonly madeAtNs: Instant;
  readonly payments: readonly { readonly key: string; readonly units: bigint }[];
};

const place = (id: string): string => `bank_files.bytes:${id}`;

/** In the transaction that takes its payments. */
export async function insertFile(tx: Queryable, file: NewFile): Promise<void> {
  const { id, rail, name, messageId, text, sha256, executionDate, madeAtNs, payments } = file;
  const units = payments.reduce((sum, one) => sum + one.units, 0n);
  await tx.query(
    `insert into bank_files (id, rail, name, bytes, sha256, payments, units, execution_date, made_at_ns, updated_at_ns, message_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
    [
      id,
      rail,
      name,
      tx.vault().seal(text, place(id)),
      sha256,
      payments.length,
      units,
      executionDate,
      madeAtNs,
      messageId,
    ],
  );
  await tx.query(
    `insert into bank_file_payments (file_id, key, units)
     select $1, key, units from unnest($2::uuid[], $3::numeric[]) as p (key, units)`,
    [id, ...columns(payments, { key: 'uuid', units: 'numeric' })],
  );
}

export type FileToSend = {
  readonly id: string;
  readonly name: string;
  readonly state: 'MADE' | 'STAGED';
  readonly stagedAs: string | null;
  readonly sha256: string;
  readonly text: string;
};

/** The oldest file that has not been uploaded. One at a time, because a file may have megabytes. */
export async function nextToSend(
  database: Queryable,
  rail: RailName,
  after: string | undefined,
): Promise<FileToSend | undefined> {
  const [row] = await database.query<Omit<FileToSend, 'text'> & { bytes: string }>(
    `select id, name, state, staged_as as "stagedAs", sha256, bytes from bank_files
     where rail = $1 and state in ('MADE', 'STAGED') and ($2::uuid is null or id > $2) order by id limit 1`,
    [rail, after ?? null],
  );
  if (row === undefined) return undefined;
  const { bytes, ...others } = row;
  return { ...others, text: database.vault().open(bytes, place(row.id)) };
}

/** False if an answer of the bank has moved it on in the meantime. */
export async function moveFile(
  tx: Queryable,
  id: string,
  change: {
    readonly from: readonly FileState[];
    readonly to: FileState;
    readonly stagedAs?: string;
    readonly detail?: string;
  },
  now: Instant,
): Promise<boolean> {
  const { from, to, stagedAs, detail } = change;
  const rows = await tx.query(
    `update bank_files set state = $2, staged_as = coalesce($3, staged_as), detail = coalesce($4, detail),
       uploaded_at_ns = case when $2 in ('MADE', 'STAGED', 'DISSOLVED') then null else coalesce(uploaded_at_ns, $5) end, updated_at_ns = $5
     where id = $1 and state = any (string_to_array($6, ',')) returning id`,
    [id, to, stagedAs ?? null, detail ?? null, now, from.join(',')],
  );
  return rows.length > 0;
}

export type KnownFile = { readonly id: string; readonly name: string; readonly state: FileState };

/** The file that the id of a message names: the digits of its id, or the id that the network prescribes. */
export async function findFile(
  tx: Queryable,
  rail: RailName,
  messageId: string,
): Promise<KnownFile | undefined> {
  const [row] = await tx.query<KnownFile>(
    'select id, name, state from bank_files where rail = $1 and (id = $2 or message_id = $3) for update',
    [rail, idOf(messageId) ?? null, messageId.trim()],
  );
  return row;
}

/** The number after the last one that messages with that beginning have. Only the holder of the lease makes files. */
export async function nextNumber(tx: Queryable, rail: RailName, prefix: string): Promise<number> {
  const [row] = await tx.query<{ last: string | null }>(
    'select max(substr(message_id, $3::int)) as last from bank_files where rail = $1 and starts_with(message_id, $2)',
    [rail, prefix, prefix.length + 1],
  );
  return Number(row!.last ?? 0) + 1;
}

export async function findFileByName(
  tx: Queryable,
  name: string,
): Promise<(KnownFile & { readonly rail: RailName }) | undefined> {
  const [row] = await tx.query<KnownFile & { rail: RailName }>(
    'select id, rail, name, state from bank_files where name = $1 for update',
    [name],
  );
  return row;
}

/** For commands, which have no clock of their own. */
export async function clockOf(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

export async function keysOfFile(tx: Queryable, id: string): Promise<string[]> {
  const rows = await tx.query<{ key: string }>('select key from bank_file_payments where file_id = $1', [id]);
  return rows.map(({ key }) => key);
}

/** Its payments belong to no file any more, and wait again. */
export async function emptyFile(tx: Queryable, id: string): Promise<void> {
  await tx.query('delete from bank_file_payments where file_id = $1', [id]);
}

/** The first outcome that the bank reported stays. */
export async function noteOutcomes(
  tx: Queryable,
  outcomes: readonly { readonly key: string; readonly state: 'COMPLETED' | 'FAILED' }[],
): Promise<void> {
  await tx.query(
    `update bank_file_payments p set outcome = o.state from unnest($1::uuid[], $2::text[]) as o (key, state)
     where p.key = o.key and p.outcome is null`,
    columns(outcomes, { key: 'uuid', state: 'text' }),
  );
}

/** Files with a payment that was booked have been received, even if no status report says so. */
export async function acknowledgeFilesOf(
  tx: Queryable,
  keys: readonly string[],
  now: Instant,
): Promise<void> {
  await tx.query(
    `update bank_files f set state = 'ACKNOWLEDGED', uploaded_at_ns = coalesce(uploaded_at_ns, $2), updated_at_ns = $2
     from (select distinct p.file_id from bank_file_payments p
           join unnest($1::uuid[]) as k (key) on k.key = p.key) as b
     where f.id = b.file_id and f.state in ('MADE', 'STAGED', 'UPLOADED', 'ASKED')`,
    [
      ...columns(
        keys.map((key) => ({ key })),
        { key: 'uuid' },
      ),
      now,
    ],
  );
}

/** Uploaded files that the bank has not answered in time become ASKED. */
export async function askUnanswered(
  tx: Queryable,
  rail: RailName,
  withinMs: number,
  now: Instant,
): Promise<readonly KnownFile[]> {
  return tx.query<KnownFile>(
    `update bank_files set state = 'ASKED', updated_at_ns = $3
     where rail = $1 and state = 'UPLOADED' and uploaded_at_ns < $2 returning id, name, state`,
    [rail, now - BigInt(withinMs) * NS_PER_MS, now],
  );
}

export type FileLine = {
  readonly name: string;
  readonly state: FileState;
  readonly payments: number;
  readonly units: bigint;
  readonly executionDate: string;
  readonly madeAtNs: Instant;
  readonly detail: string | null;
};

/** The newest files, for operators. */
export async function listFiles(database: Database, rail: string, max: number): Promise<FileLine[]> {
  return database.query<FileLine>(
    `select name, state, payments, units, execution_date as "executionDate", made_at_ns as "madeAtNs", detail
     from bank_files where rail = $1 order by id desc limit $2`,
    [rail, max],
  );
}
