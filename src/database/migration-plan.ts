import type { Queryable } from './database.ts';
import { createdBy, LOCKS, type Lock, statementsIn, stepsOf, type Work } from './migration-statements.ts';
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
  /** The table that is locked for longest first. Tables that the plan creates are left out: nobody uses them yet. */
  readonly locks: readonly PlannedLock[];
  /** It runs code whose tables and time cannot be read from its text. */
  readonly hasCode: boolean;
};

/**
 * Bytes of a table that a statement processes in a millisecond. Measured with transfers of 250 bytes a row on two cores with
 * the table in memory; a slow disk can take ten times as long.
 */
const BYTES_PER_MS: Readonly<Record<Exclude<Work, 'catalog' | 'unknown'>, number>> = {
  scan: 400_000,
  index: 100_000,
  rewrite: 60_000,
  rows: 15_000,
};

/** Of any statement: planning, the catalog, and a commit. */
const STATEMENT_MS = 1;

type Size = { readonly rows: number; readonly bytes: number };
type Sizes = ReadonlyMap<string, Size>;

/** Estimates of the server, which it keeps for its planner; reading them takes no lock that anybody notices. */
export async function tableSizes(database: Queryable): Promise<Sizes> {
  const rows = await database.query<{ name: string; rows: number; bytes: number }>(
    `select relname::text as name, greatest(reltuples, 0)::float8 as rows, pg_table_size(oid)::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  );
  return new Map(rows.map(({ name, ...size }) => [name, size]));
}

const NOTHING: Size = { rows: 0, bytes: 0 };

function durationMs(work: Work, { bytes }: Size): number | null {
  if (work === 'unknown') return null;
  return STATEMENT_MS + (work === 'catalog' ? 0 : bytes / BYTES_PER_MS[work]);
}

const stronger = (one: Lock, other: Lock): Lock => (LOCKS.indexOf(one) <= LOCKS.indexOf(other) ? one : other);

function planOne({ name, online, sql }: Migration, sizes: Sizes, made: Set<string>): PlannedMigration {
  const steps = statementsIn(sql).flatMap((statement) => {
    const created = createdBy(statement);
    if (created !== undefined) made.add(created);
    return stepsOf(statement);
  });
  const locks = new Map<string, PlannedLock>();
  // From the last statement to the first: a lock is held from the first statement that takes it.
  let leftMs: number | null = 0;
  for (const { table, lock, work } of steps.toReversed()) {
    const size: Size = (table === undefined ? undefined : sizes.get(table)) ?? NOTHING;
    const tookMs = durationMs(work, size);
    leftMs = leftMs === null || tookMs === null ? null : leftMs + tookMs;
    if (table === undefined || made.has(table) || !sizes.has(table)) continue;
    const before = locks.get(table);
    locks.set(table, { table, ...size, lock: stronger(lock, before?.lock ?? lock), heldMs: leftMs });
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
  const made = new Set<string>();
  return pending.map((migration) => planOne(migration, sizes, made));
}
