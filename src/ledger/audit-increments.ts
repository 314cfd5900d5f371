import { setTimeout as sleep } from 'node:timers/promises';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import type { AuditReport } from './audit.ts';
import {
  type Checkpoint,
  checkpointViolations,
  lastCheckpoint,
  type Progress,
  storeCheckpoint,
} from './audit-checkpoints.ts';
import { type Units, unitsIn, type Violation } from './audit-checks.ts';
import { endOfEntries, heapOfEntries } from './audit-places.ts';
import {
  type AuditedDatabase,
  auditFewRecords,
  auditSlice,
  auditSystemBalances,
  sweepBalances,
} from './audit-slice.ts';

/**
 * The incremental audit: from the last checkpoint to the present, in short slices. Its cost follows what is new. Slices that
 * are complete end with a checkpoint; the last minute is audited as well, and again next time.
 */
export type IncrementalReport = AuditReport & {
  /** Entries that were audited now; the others were before. */
  readonly newCount: bigint;
  /** The checkpoint that it continued from; undefined: from the beginning. */
  readonly continuedFrom?: Checkpoint;
};

type Present = {
  readonly nowNs: Instant;
  /** Every transaction with an earlier instant has ended. */
  readonly closedNs: Instant;
  readonly isStandby: boolean;
  /** A statement sees all servers at the same moment: on a cluster, what is being committed may be on some of them already. */
  readonly isOneSnapshot: boolean;
};

const END_OF_TIME: Instant = 2n ** 63n - 1n;

// A transaction has the lock on its id until its commit has ended: on a cluster, until the other servers know of it.
const presentOf = (lagMs: number, isOneSnapshot: boolean): string => `
  select ${CLOCK_NS} as "nowNs",
         least(${CLOCK_NS}, (select (extract(epoch from min(a.xact_start)) * 1000000)::bigint * 1000
                             from pg_stat_activity a join pg_locks l on l.pid = a.pid
                             where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
                               and a.datname = current_database() and a.backend_type = 'client backend'))
           - ${BigInt(lagMs) * NS_PER_MS} as "closedNs",
         pg_is_in_recovery() as "isStandby", ${isOneSnapshot} as "isOneSnapshot"`;

/** Sessions of other roles do not show when their transaction began: only the lag holds for them. */
async function present({ database, lagMs }: Pick<Run, 'database' | 'lagMs'>): Promise<Present> {
  const [row] = await database.query<Present>({
    plain: presentOf(lagMs, true),
    distributed: presentOf(lagMs, false),
  });
  return row!;
}

/** Heaps of entries are in the order of time: the first blocks have the earliest ones. */
async function firstInstant(database: Queryable): Promise<Instant | undefined> {
  const [row] = await database.query<{ first: Instant | null }>(
    `select min(at_ns) as first from entries where ctid < '(64,0)'::tid`,
  );
  return row!.first ?? undefined;
}

async function hasMoreThan(database: Queryable, max: number, afterNs: Instant, untilNs: Instant) {
  const rows = await database.query<{ count: number }>(
    `select count(*)::integer as count
     from (select 1 from entries where at_ns > $1 and at_ns <= $2 limit ${max + 1}) as counted`,
    [afterNs, untilNs],
  );
  return rows[0]!.count > max;
}

function later(a: Instant, b: Instant): Instant {
  if (a > b) return a;
  return b;
}

function earlier(a: Instant, b: Instant): Instant {
  if (a < b) return a;
  return b;
}

/** `firstNs`: there is nothing before it. */
type Slice = { readonly afterNs: Instant; readonly firstNs: Instant; readonly untilNs: Instant };

/** The end of the longest slice with few enough entries: half as long until it fits. */
async function sliceEnd(database: Queryable, wanted: Slice): Promise<Instant> {
  const { afterNs, firstNs } = wanted;
  let { untilNs } = wanted;
  // Entries of one instant belong to one command: their number is bounded.
  while (
    untilNs - firstNs > 1n &&
    (await hasMoreThan(database, LIMITS.auditSliceEntriesMax, afterNs, untilNs))
  ) {
    untilNs = firstNs + (untilNs - firstNs) / 2n;
  }
  return untilNs;
}

type Run = {
  readonly database: AuditedDatabase;
  readonly units: Units;
  readonly violations: Violation[];
  readonly signal: AbortSignal | undefined;
  readonly lagMs: number;
};

async function startOf({ database }: Run, checkpoint: Checkpoint | undefined): Promise<Progress> {
  if (checkpoint === undefined) {
    return { untilNs: -1n, ...(await endOfEntries(database)), entries: 0n, totals: [], sweptTo: '' };
  }
  // The table was rewritten since, by a restore for example: the place in its file says nothing any more.
  return checkpoint.heap === (await heapOfEntries(database))
    ? checkpoint
    : { ...checkpoint, ...(await endOfEntries(database)) };
}

/** One slice that is complete, and its checkpoint, unless something is wrong: then the next audit begins there again. */
async function closeSlice(run: Run, progress: Progress, untilNs: Instant): Promise<Progress> {
  const { database, units, violations } = run;
  let { entries, totals, place, untilNs: afterNs } = progress;
  for (let hasMore = true; hasMore; ) {
    const report = await auditSlice(database, { afterNs, untilNs, place }, totals, units);
    violations.push(...report.violations);
    entries += report.entries;
    ({ totals, place, hasMoreLate: hasMore } = report);
    afterNs = untilNs;
  }
  const sweep = await sweepBalances(database, progress.sweptTo, units);
  violations.push(...sweep.violations);
  return { ...progress, untilNs, place, totals, entries, sweptTo: sweep.next ?? '' };
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  // Rejected when the node stops: then there is nothing to wait for.
  await sleep(LIMITS.auditPauseMs, undefined, signal && { signal }).catch(() => undefined);
}

async function closeSlices(run: Run, checkpoint: Checkpoint | undefined): Promise<Progress> {
  const { database, violations, signal } = run;
  let now = await present(run);
  let last = checkpoint;
  let progress = await startOf(run, checkpoint);
  let lengthNs = BigInt(LIMITS.auditSliceMs) * NS_PER_MS;
  const first = (progress.untilNs < 0n ? await firstInstant(database) : undefined) ?? progress.untilNs;
  const { closedNs } = now;
  while (progress.untilNs < closedNs) {
    if (signal?.aborted === true) break;
    const { untilNs: afterNs } = progress;
    const firstNs = later(afterNs, first);
    const untilNs = await sliceEnd(database, {
      afterNs,
      firstNs,
      untilNs: earlier(firstNs + lengthNs, closedNs),
    });
    const next = await closeSlice(run, progress, untilNs);
    violations.push(...(await auditSystemBalances(database, next, run.units)));
    const isNew = next.entries > progress.entries;
    progress = next;
    if (isNew && violations.length === 0 && !now.isStandby) {
      last = await storeCheckpoint(database, progress, last, now.nowNs);
    }
    lengthNs = untilNs > firstNs ? (untilNs - firstNs) * 2n : lengthNs;
    if (untilNs < closedNs) await pause(signal);
    now = await present(run);
  }
  return progress;
}

/** What is not covered by a checkpoint yet. */
async function auditOpen(run: Run, progress: Progress): Promise<bigint> {
  const { database, units, violations } = run;
  const { untilNs, place, totals } = progress;
  const now = await present({ ...run, lagMs: LIMITS.clockBehindMaxMs });
  const slice = { afterNs: untilNs, untilNs: now.isOneSnapshot ? END_OF_TIME : now.closedNs, place };
  const open = await auditSlice(database, slice, totals, units);
  violations.push(...open.violations);
  violations.push(...(await auditSystemBalances(database, progress, units)));
  violations.push(...(await auditFewRecords(database, units)));
  return open.entries;
}

async function sweepAll({ database, units, violations }: Run): Promise<bigint> {
  let count = 0n;
  for (let next: string | undefined = ''; next !== undefined; ) {
    const sweep = await sweepBalances(database, next, units);
    violations.push(...sweep.violations);
    count += BigInt(sweep.count);
    next = sweep.next;
  }
  return count;
}

/** The same violation may be found in a slice and in a sweep. */
function distinct(violations: readonly Violation[]): Violation[] {
  return [...new Map(violations.map((one) => [`${one.rule} ${one.line}`, one])).values()];
}

export type Thoroughness = {
  /** Sweeps every balance, and verifies every checkpoint: for the command line. */
  readonly thorough?: boolean;
  /** What is younger is not covered by a checkpoint; `auditLagMs` by default. */
  readonly lagMs?: number;
  readonly signal?: AbortSignal;
};

async function increment(
  database: AuditedDatabase,
  assets: Assets,
  options: Thoroughness,
): Promise<IncrementalReport> {
  const { checkpoint, violation } = await lastCheckpoint(database);
  const violations = violation === undefined ? [] : [violation];
  const { signal, lagMs = LIMITS.auditLagMs } = options;
  const run: Run = { database, units: unitsIn(assets), violations, signal, lagMs };
  if (options.thorough === true) violations.push(...(await checkpointViolations(database)));
  const progress = await closeSlices(run, checkpoint);
  const open = await auditOpen(run, progress);
  const accountCount = options.thorough === true ? await sweepAll(run) : 0n;
  const found = distinct(violations);
  return {
    violations: found.slice(0, LIMITS.auditViolationsMax),
    truncated: found.length > LIMITS.auditViolationsMax,
    entryCount: progress.entries + open,
    newCount: progress.entries + open - (checkpoint?.entries ?? 0n),
    accountCount,
    ...(checkpoint && { continuedFrom: checkpoint }),
  };
}

/** One audit at a time makes checkpoints. Undefined if another node is running one, unless it is to `wait`. */
export async function auditIncrement(
  database: Database,
  assets: Assets,
  options: Thoroughness & { readonly wait?: boolean } = {},
): Promise<IncrementalReport | undefined> {
  const { audit } = ADVISORY_LOCKS;
  const connection = await database.reserve({ patient: options.wait === true });
  try {
    // The audit of a node may take longer than the statements and locks of transfers may.
    if (options.wait === true) {
      await connection.query('set lock_timeout = 0');
      await connection.query('set statement_timeout = 0');
    }
    const [row] = await connection.query<{ locked: boolean }>(
      options.wait === true
        ? `select true as locked from pg_advisory_lock(${audit})`
        : `select pg_try_advisory_lock(${audit}) as locked`,
    );
    if (!row!.locked) return undefined;
    // The plan depends on how long the slice is: one for all slices would compare each entry with every other.
    await connection.query('set plan_cache_mode = force_custom_plan');
    const { query, vault } = connection;
    return await increment({ query, vault, transaction: database.transaction }, assets, options);
  } finally {
    // Closing the connection releases the lock.
    connection.discard();
  }
}
