import { setTimeout as sleep } from 'node:timers/promises';
import { textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/**
 * The past of the ledger that nothing can be added to any more.
 *
 * An entry gets its instant from the clock of the database before its transaction commits, so a transaction in flight can still
 * add an entry to the past. Two facts bound that. The instants of a transaction are not before the clock, or the optimistic
 * lane's estimate of it, which `changeBalances` lets be behind by `clockBehindMaxMs` at most. And a transaction has its id
 * before that. So entries up to `clock - clockBehindMaxMs` are final as soon as all transactions that had an id at that time
 * have ended: later ones get later instants. (If the clock of the database is set back, or `ferry repair-instants` moves
 * entries, the past changes.)
 */
type Look = { readonly now_ns: bigint; readonly writing: readonly string[] };

// A transaction with an id holds a lock on it. The names of databases are visible to every role, unlike start times.
const WRITING = `select l.virtualtransaction from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and a.datname = current_database()`;

const POLL_MS = 5;

/** Waits for the transactions in flight, and returns the last instant that is final. Everything up to it can then be read. */
export async function finalInstant(
  database: Queryable,
  waitMs: number = LIMITS.finalityWaitMs,
): Promise<Instant> {
  // The clock is read first: a transaction that gets its id after the list was made has a later instant.
  const [look] = await database.query<Look>(
    `with clock as materialized (select ${CLOCK_NS} as now_ns)
     select clock.now_ns, (select array(${WRITING} and clock.now_ns > 0)) as writing from clock`,
  );
  const deadline = performance.now() + waitMs;
  let { writing } = look!;
  while (writing.length > 0) {
    if (performance.now() > deadline) {
      const detail = `${writing.length} transactions in flight do not end, so the past is not final. Retry later.`;
      throw new Problem('unavailable', detail, {}, 1);
    }
    await sleep(POLL_MS);
    const [left] = await database.query<Pick<Look, 'writing'>>(
      `select array(${WRITING} and l.virtualtransaction = any ($1::text[])) as writing`,
      [textArray(writing)],
    );
    ({ writing } = left!);
  }
  return look!.now_ns - BigInt(LIMITS.clockBehindMaxMs) * NS_PER_MS;
}
