import type { Queryable } from './database.ts';
import { LOCKS, type Lock, statementsIn, stepsOf, type Work } from './migration-statements.ts';
import type { Migration } from './schema.ts';

/** What a migration would lock, and about for how long. */
export type PlannedLock = {
  readonly table: string;
  readonly lock: Lock;
  readonly rows: number;
  readonly bytes: number;
  /** From the statement that takes the lock to the end of the migration, which is one transaction; null: not known. */
  readonly heldMs: number | null;
};

export type PlannedMigration = {
  readonly name: string;
  readonly online: boolean;
  /** The table that is locked for longest first. Tables that do not exist yet are left out: nobody uses them. */
  readonly locks: readonly PlannedLock[];
  /** It runs code whose tables and time cannot be read from its text. */
  readonly hasCode: boolean;
};

/**
 * Bytes of a table that a statement processes in a millisecond: processor time of the server, measured with rows of 220 bytes
 * and two indexes, in memory. For changed rows, a quarter of a rewrite is assumed. A slow disk can take ten times as long.
 */
const BYTES_PER_MS: Readonly<Record<Exclude<Work, 'catalog' | 'unknown'>, number>> = {
  scan: 500_000,
  index: 140_000,
  rewrite: 56_000,
  rows: 14_000,
};

/** Of any statement: planning, the catalog, and a commit. */
const STATEMENT_MS = 1;

type Size = { readonly rows: number; readonly bytes: number };
/** By table. The name of an index leads to its table. */
type Sizes = ReadonlyMap<string, Size & { readonly table: string }>;

/** Estimates of the server, which it keeps for its planner; reading them takes no lock that anybody notices. */
export async function tableSizes(database: Queryable): Promise<Sizes> {
  const rows = await database.query<{ name: string; table: string; rows: number; bytes: number }>(
    `with tables as (
       select oid, relname::text as name, greatest(reltuples, 0)::float8 as rows, pg_table_size(oid)::float8 as bytes
       from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace)
     select name, name as table, rows, bytes from tables
     union all select i.relname::text, t.name, t.rows, t.bytes
     from pg_index x join tables t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid`,
  );
  return new Map(rows.map(({ name, ...size }) => [name, size]));
}

const NOTHING: Size = { rows: 0, bytes: 0 };

function durationMs(work: Work, { bytes }: Size): number | null {
  if (work === 'unknown') return null;
  return STATEMENT_MS + (work === 'catalog' ? 0 : bytes / BYTES_PER_MS[work]);
}

const stronger = (one: Lock, other: Lock): Lock => (LOCKS.indexOf(one) <= LOCKS.indexOf(other) ? one : other);

function planOne({ name, online, sql }: Migration, sizes: Sizes): PlannedMigration {
  const steps = statementsIn(sql).flatMap(stepsOf);
  const locks = new Map<string, PlannedLock>();
  // From the last statement to the first: a lock is held from the first statement that takes it.
  let leftMs: number | null = 0;
  for (const { table: named, lock, work } of steps.toReversed()) {
    const found = named === undefined ? undefined : sizes.get(named);
    const tookMs = durationMs(work, found ?? NOTHING);
    leftMs = leftMs === null || tookMs === null ? null : leftMs + tookMs;
    if (found === undefined) continue;
    const { table, rows, bytes } = found;
    const before = locks.get(table);
    locks.set(table, { table, rows, bytes, lock: stronger(lock, before?.lock ?? lock), heldMs: leftMs });
  }
  const length = ({ heldMs }: PlannedLock): number => heldMs ?? Number.POSITIVE_INFINITY;
  return {
    name,
    online,
    locks: [...locks.values()].sort((a, b) => length(b) - length(a)),
    hasCode: steps.some(({ work }) => work === 'unknown'),
  };
}

export function planOf(pending: readonly Migration[], sizes: Sizes): PlannedMigration[] {
  return pending.map((migration) => planOne(migration, sizes));
}
