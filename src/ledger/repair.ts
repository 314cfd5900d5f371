import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';

/**
 * Entries with instants in the future, because a clock was wrong. They are in order, and rules do not depend on them; but
 * a balance at a past time is wrong until the clock has caught up, and beyond `instantAheadMaxMs` the balance is blocked.
 * The repair is never automatic: only an operator can decide that the clock is right now.
 */
export type AheadReport = {
  readonly entryCount: number;
  readonly balanceCount: number;
  /** The furthest instant; null when nothing is ahead. */
  readonly lastNs: Instant | null;
  readonly nowNs: Instant;
};

/** Entries of profiles' balances, and entries of the service's own accounts, each found through an index. */
const AHEAD = `
  select e.* from balances b cross join lateral (
    select * from entries
    where owner_id = b.profile_id and asset = b.asset and account in ('available', 'held') and at_ns > $1::bigint) e
  where b.moved_at_ns > $1::bigint
  union all
  select e.* from (select account, asset from system_balances union select account, asset from system_deltas) s
  cross join lateral (
    select * from entries
    where balance_after is null and account = s.account and asset = s.asset and at_ns > $1::bigint) e`;

async function clock(tx: Transaction): Promise<Instant> {
  const [row] = await tx.query<{ now_ns: Instant }>(`select ${CLOCK_NS} as now_ns`);
  return row!.now_ns;
}

async function reportOn(tx: Transaction, nowNs: Instant): Promise<AheadReport> {
  const [row] = await tx.query<Omit<AheadReport, 'nowNs'>>(
    `select (select count(*)::integer from (${AHEAD}) as ahead) as "entryCount",
            (select count(*)::integer from balances where moved_at_ns > $1::bigint) as "balanceCount",
            greatest((select max(at_ns) from (${AHEAD}) as ahead),
                     (select max(moved_at_ns) from balances where moved_at_ns > $1::bigint)) as "lastNs"`,
    [nowNs],
  );
  return { ...row!, nowNs };
}

export function entriesAhead(database: Database): Promise<AheadReport> {
  return database.snapshot(async (tx) => reportOn(tx, await clock(tx)));
}

/**
 * Moves the entries that are ahead back to the present: the first to one nanosecond after now, the next to two, and so on.
 * Their order is kept, and both sides of a posting keep a common instant. The tables are locked against writes.
 */
export async function repairInstants(
  database: Database,
  /** In the same transaction: records who did it. */
  done: (tx: Transaction, report: AheadReport) => Promise<void> = async () => {},
): Promise<AheadReport> {
  return database.transaction(async (tx) => {
    await tx.query('set local statement_timeout = 0');
    // On a cluster, rows of a batch get to balances and entries through packed rows.
    await tx.query('lock table balances, entries, packed_rows in share row exclusive mode');
    const nowNs = await clock(tx);
    const report = await reportOn(tx, nowNs);
    await tx.query(`create temporary table entries_ahead on commit drop as
      select *, ${nowNs} + dense_rank() over (order by at_ns) as new_at_ns from (${AHEAD.replaceAll('$1', String(nowNs))}) as ahead`);
    // Deleted and inserted again, not updated: an update could collide with the key of an entry that is not moved yet.
    await tx.query(`delete from entries e using entries_ahead a
      where e.owner_id = a.owner_id and e.asset = a.asset and e.account = a.account and e.at_ns = a.at_ns and e.line = a.line`);
    await tx.query(`insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
      select owner_id, asset, account, new_at_ns, line, posting, cause_id, delta, balance_after from entries_ahead`);
    await tx.query(
      `update balances b set moved_at_ns = coalesce((
         select max(e.at_ns) from entries e
         where e.owner_id = b.profile_id and e.asset = b.asset and e.account in ('available', 'held')), 0)
       where b.moved_at_ns > $1::bigint`,
      [nowNs],
    );
    await done(tx, report);
    return report;
  });
}
