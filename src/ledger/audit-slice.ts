import { plainArray } from '../database/array.ts';
import type { Database, Queryable } from '../database/database.ts';
import { isOnCluster } from '../database/distribution.ts';
import { LIMITS } from '../limits.ts';
import {
  causesToExamine,
  fewRecordFaults,
  recordFaultsInSlice,
  stillUnexplained,
  wantedCauses,
} from './audit-causes.ts';
import type { Progress, Total } from './audit-checkpoints.ts';
import {
  balanceEquals,
  type Check,
  heldEquals,
  postingBalances,
  runCheck,
  runningBalance,
  systemBalanceEquals,
  type Units,
  type Violation,
} from './audit-checks.ts';
import { addUp, IN_SLICE, type Slice, type Sum } from './audit-places.ts';

/**
 * The audit of the entries and records of a slice of time. Each statement is its own short transaction, and correct by itself,
 * even if the slice still grows.
 */
/** The balance after the entry before; only looked up for the first one of an account in the slice. */
const chained = (inSlice: string): string => `(
  select c.*, coalesce(case when c.place = 1 then p.balance_after else c.prior end, 0) as before
  from (select *, lag(balance_after) over account_order as prior, row_number() over account_order as place
        from ${inSlice} as e where balance_after is not null
        window account_order as (partition by owner_id, asset, account order by at_ns, line)) as c
  left join lateral (
    select e.balance_after from entries e
    where c.place = 1 and e.owner_id = c.owner_id and e.asset = c.asset and e.account = c.account
      and (e.at_ns, e.line) < (c.at_ns, c.line)
    order by e.at_ns desc, e.line desc limit 1) as p on true)`;

/** The same for late entries, which are anywhere. */
const chainedLate = (late: string): string => `(
  select l.*, coalesce(p.balance_after, 0) as before from ${late} as l
  left join lateral (
    select e.balance_after from entries e
    where e.owner_id = l.owner_id and e.asset = l.asset and e.account = l.account and (e.at_ns, e.line) < (l.at_ns, l.line)
    order by e.at_ns desc, e.line desc limit 1) as p on true
  where l.balance_after is not null)`;

/** And for the entries after them. */
const chainedNext = (late: string): string => `(
  select n.*, l.balance_after as before from ${late} as l
  cross join lateral (
    select * from entries e
    where e.owner_id = l.owner_id and e.asset = l.asset and e.account = l.account and (e.at_ns, e.line) > (l.at_ns, l.line)
    order by e.at_ns, e.line limit 1) as n
  where l.balance_after is not null)`;

/** Stored balances and their last entries. `balances` has owner_id and asset. */
const compared = (balances: string): string => `(
  select t.owner_id, t.asset, v.account, v.stored, coalesce(last.balance_after, 0) as counted
  from ${balances} as t
  left join balances b on b.profile_id = t.owner_id and b.asset = t.asset
  cross join lateral (values ('available', coalesce(b.available, 0)), ('held', coalesce(b.held, 0))) as v (account, stored)
  left join lateral (
    select e.balance_after from entries e
    where e.owner_id = t.owner_id and e.asset = t.asset and e.account = v.account
    order by e.at_ns desc, e.line desc limit 1) as last on true)`;

const holds = (balances: string): string => `(
  select t.owner_id as profile_id, t.asset, coalesce(b.held, 0) as held, coalesce(h.units, 0) as pending
  from ${balances} as t
  left join balances b on b.profile_id = t.owner_id and b.asset = t.asset
  left join lateral (select sum(h.units) as units from expected_holds h
                     where h.profile_id = t.owner_id and h.asset = t.asset) as h on true)`;

const moved = (seen: string, accounts: string): string =>
  `(select distinct owner_id, asset from ${seen} as e where account in (${accounts}))`;

async function auditCauses(
  database: Queryable,
  seen: string,
  parameters: readonly (string | bigint)[],
  units: Units,
): Promise<Violation[]> {
  const unexplained = await database.query<{ cause_id: string }>(causesToExamine(seen), parameters);
  const violations: Violation[] = [];
  for (let from = 0; from < unexplained.length; from += LIMITS.auditSliceEntriesMax / 10) {
    const part = unexplained.slice(from, from + LIMITS.auditSliceEntriesMax / 10);
    const ids = plainArray(part.map((row) => row.cause_id));
    const left = await database.query<{ cause_id: string }>(stillUnexplained(seen), [...parameters, ids]);
    if (left.length === 0) continue;
    const rest = plainArray(left.map((row) => row.cause_id));
    violations.push(...(await runCheck(database, wantedCauses(seen, true), units, [...parameters, rest])));
  }
  return violations;
}

export type SliceReport = {
  readonly violations: Violation[];
  readonly entries: bigint;
  readonly totals: readonly Total[];
  /** Where the entries ended when the slice was added up. */
  readonly place: string;
  /** There are late entries behind that place. */
  readonly hasMoreLate: boolean;
};

function added(totals: readonly Total[], rows: readonly Sum[]) {
  const sums = new Map(totals.map((one) => [`${one.account} ${one.asset}`, one]));
  for (const { account, asset, units } of rows) {
    const key = `${account} ${asset}`;
    const before = BigInt(sums.get(key)?.units ?? '0');
    sums.set(key, { account, asset, units: String(before + units) });
  }
  return [...sums.values()].sort((a, b) => (`${a.account} ${a.asset}` < `${b.account} ${b.asset}` ? -1 : 1));
}

/** The totals of all accounts of an asset sum to zero. */
function conserved(totals: readonly Total[], units: Units): Violation[] {
  const sums = new Map<string, bigint>();
  for (const { asset, units: sum } of totals) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(sum));
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .map(([asset, sum]) => ({
      rule: 'value-is-conserved',
      line: `all entries of ${asset} together sum to ${units(asset, sum)}, not 0`,
    }));
}

export async function auditSlice(
  database: Queryable,
  slice: Slice,
  before: readonly Total[],
  units: Units,
): Promise<SliceReport> {
  const { afterNs, untilNs } = slice;
  const { sums, entries, place, late } = await addUp(database, slice);
  const parameters = [afterNs, untilNs, slice.place];
  const run = (check: Check): Promise<Violation[]> => runCheck(database, check, units, parameters);
  // Statements that do not need all parameters get them all the same.
  const known = `$1::bigint is not null and $2::bigint is not null and $3::${late.type} is not null`;
  const relation = (select: string): string => `(select * from (${select}) as s where ${known})`;
  const inSlice = relation(IN_SLICE);
  const lateOnes = relation(late.ones);
  const seen = late.isNone ? inSlice : relation(late.withSlice);
  const totals = added(before, sums);
  const violations = [
    ...conserved(totals, units),
    ...(await run(postingBalances(seen))),
    ...(await run(runningBalance(chained(inSlice)))),
    ...(late.isNone ? [] : await run(runningBalance(chainedLate(lateOnes)))),
    ...(late.isNone ? [] : await run(runningBalance(chainedNext(lateOnes)))),
    ...(await run(balanceEquals(compared(moved(seen, `'available', 'held'`))))),
    ...(await run(heldEquals(holds(moved(seen, `'held'`))))),
    ...(await auditCauses(database, seen, parameters, units)),
    ...(await runCheck(database, recordFaultsInSlice, units, [afterNs, untilNs])),
  ];
  return { violations, entries, totals, place, hasMoreLate: late.hasMore };
}

/** The connection of an audit, and transactions on others. */
export type AuditedDatabase = Queryable & Pick<Database, 'transaction'>;

/**
 * The service's own accounts: the audited entries and the ones after them make the stored balance. On a cluster these are on different
 * servers, and under load there is always a commit that has reached only some of them. So what is found there is looked at again while
 * nobody posts to these accounts: the lock waits for the commits under way, on all servers.
 */
export async function auditSystemBalances(
  database: AuditedDatabase,
  progress: Pick<Progress, 'untilNs' | 'totals'>,
  units: Units,
): Promise<Violation[]> {
  const found = await runCheck(database, ...systemCheck(progress, units), 1);
  if (found.length === 0 || !(await isOnCluster(database))) return found;
  return database.transaction(async (tx) => {
    await tx.query('lock table system_deltas in share mode');
    return runCheck(tx, ...systemCheck(progress, units), 1);
  });
}

function systemCheck({ untilNs, totals }: Pick<Progress, 'untilNs' | 'totals'>, units: Units) {
  const own = totals.filter(({ account }) => account !== 'available' && account !== 'held');
  const check = systemBalanceEquals(`(
    select account, asset, sum(units) as units
    from (select account, asset, units from jsonb_to_recordset($2::jsonb) as t (account text, asset text, units numeric)
          union all
          select account, asset, delta from entries where balance_after is null and at_ns > $1) as parts
    group by account, asset)`);
  return [check, units, [untilNs, JSON.stringify(own)]] as const;
}

/** Records of which there are few are checked every time. */
export function auditFewRecords(database: Queryable, units: Units): Promise<Violation[]> {
  return runCheck(database, fewRecordFaults, units);
}

/** Compares the next balances with their last entries and with what is to be held. Undefined `next`: these were the last. */
export async function sweepBalances(
  database: Queryable,
  after: string,
  units: Units,
): Promise<{ readonly violations: Violation[]; readonly next: string | undefined; readonly count: number }> {
  const slash = after.indexOf('/');
  const place =
    after === ''
      ? ['00000000-0000-0000-0000-000000000000', '']
      : [after.slice(0, slash), after.slice(slash + 1)];
  const max = LIMITS.auditSweepBalances;
  const rows = await database.query<{ profileId: string; asset: string }>(
    `select profile_id as "profileId", asset from balances
     where (profile_id, asset) > ($1::uuid, $2) order by profile_id, asset limit ${max}`,
    place,
  );
  const last = rows.at(-1);
  if (last === undefined) return { violations: [], next: undefined, count: 0 };
  const some = `(select profile_id as owner_id, asset from balances
                 where (profile_id, asset) > ($1::uuid, $2) and (profile_id, asset) <= ($3::uuid, $4))`;
  const stretch = [...place, last.profileId, last.asset];
  const violations = [
    ...(await runCheck(database, balanceEquals(compared(some)), units, stretch)),
    ...(await runCheck(database, heldEquals(holds(some)), units, stretch)),
  ];
  const next = rows.length < max ? undefined : `${last.profileId}/${last.asset}`;
  return { violations, next, count: rows.length };
}
