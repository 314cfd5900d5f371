import type { Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { PROFILE_ACCOUNTS } from './entries.ts';

/** The balance of an account: of one of the service, or of `available` or `held` of all profiles together. */
export type AccountTotal = { readonly asset: string; readonly account: string; readonly units: bigint };

/**
 * All accounts at a past instant. The past is final, so it is read in short statements of bounded size, each with its own
 * snapshot: nothing waits for a trial balance, and none holds back what the server may clean up. Its cost is one row for
 * each balance, two index lookups for each balance that moved since, and one row for each later entry of an account of the
 * service.
 */
export async function trialBalance(
  database: Queryable,
  at: Instant,
  final: Instant,
  rowsMax: number = LIMITS.trialBalanceRowsMax,
): Promise<AccountTotal[]> {
  const totals = new Map<string, AccountTotal>();
  const add = ({ asset, account, units }: AccountTotal): void => {
    const key = `${asset}/${account}`;
    totals.set(key, { asset, account, units: (totals.get(key)?.units ?? 0n) + units });
  };
  for await (const one of profileTotals(database, at, rowsMax)) add(one);
  for await (const one of systemTotals(database, at, final, rowsMax)) add(one);
  return [...totals.values()].sort((a, b) =>
    a.asset !== b.asset
      ? a.asset < b.asset
        ? -1
        : 1
      : rank(a) !== rank(b)
        ? rank(a) - rank(b)
        : a.account < b.account
          ? -1
          : 1,
  );
}

/** Accounts of profiles first. */
function rank({ account }: AccountTotal): number {
  const index = (PROFILE_ACCOUNTS as readonly string[]).indexOf(account);
  return index === -1 ? PROFILE_ACCOUNTS.length : index;
}

type ProfileSlice = {
  readonly asset: string | null;
  readonly available: bigint;
  readonly held: bigint;
  readonly lastProfile: string;
  readonly lastAsset: string;
  readonly count: bigint;
};

/** Slices in the order of the primary key. A balance that has not moved since is what it was. */
async function* profileTotals(
  database: Queryable,
  at: Instant,
  rowsMax: number,
): AsyncGenerator<AccountTotal> {
  const then = (account: string): string => `case when b.moved_at_ns <= $1 then b.${account} else coalesce((
    select e.balance_after from entries e
    where e.owner_id = b.profile_id and e.asset = b.asset and e.account = '${account}' and e.at_ns <= $1
    order by e.at_ns desc, e.line desc limit 1), 0) end`;
  let after: { profile: string; asset: string } | undefined = {
    profile: '00000000-0000-0000-0000-000000000000',
    asset: '',
  };
  while (after !== undefined) {
    const rows: ProfileSlice[] = await database.query<ProfileSlice>(
      `with slice as materialized (
         select b.profile_id, b.asset, ${then('available')} as available, ${then('held')} as held
         from balances b where (b.profile_id, b.asset) > ($2::uuid, $3::text) order by b.profile_id, b.asset limit $4),
       place as (select profile_id::text as "lastProfile", asset as "lastAsset", (select count(*) from slice) as count
                 from slice order by profile_id desc, asset desc limit 1)
       select s.asset, sum(s.available) as available, sum(s.held) as held, place.*
       from slice s, place group by s.asset, place."lastProfile", place."lastAsset", place.count`,
      [at, after.profile, after.asset, rowsMax],
    );
    for (const { asset, available, held } of rows) {
      yield { asset: asset!, account: 'available', units: available };
      yield { asset: asset!, account: 'held', units: held };
    }
    const [one] = rows;
    const isLast = one === undefined || one.count < BigInt(rowsMax);
    after = isLast ? undefined : { profile: one.lastProfile, asset: one.lastAsset };
  }
}

/** One account of the service at a past instant. */
export async function systemBalanceAt(
  database: Queryable,
  only: { readonly account: string; readonly asset: string },
  at: Instant,
  final: Instant,
): Promise<bigint> {
  let sum = 0n;
  for await (const { units } of systemTotals(database, at, final, LIMITS.trialBalanceRowsMax, only))
    sum += units;
  return sum;
}

/**
 * What an account of the service has now, without what was posted after the final instant, in one snapshot; then slice by
 * slice without what was posted between `at` and the final instant.
 */
async function* systemTotals(
  database: Queryable,
  at: Instant,
  final: Instant,
  rowsMax: number,
  only?: { readonly account: string; readonly asset: string },
): AsyncGenerator<AccountTotal> {
  const accounts = await database.query<AccountTotal>(
    `select s.account, s.asset, sum(s.part) as units
     from (select account, asset, balance as part from system_balances
           union all select account, asset, delta from system_deltas
           union all select account, asset, -sum(delta) from entries where balance_after is null and at_ns > $1
                     group by account, asset) s
     where ($2::text is null or s.account = $2) and ($3::text is null or s.asset = $3)
     group by s.account, s.asset`,
    [final, only?.account ?? null, only?.asset ?? null],
  );
  for (const { account, asset, units } of accounts) {
    yield { account, asset, units };
    let to: Instant | null = final;
    while (to !== null && to > at) {
      const later: Slice = await lastEntries(database, { account, asset, at, to, rowsMax });
      yield { account, asset, units: -(later.sum ?? 0n) };
      to = later.next;
    }
  }
}

type Slice = { readonly sum: bigint | null; readonly next: Instant | null };
type Stretch = {
  readonly account: string;
  readonly asset: string;
  readonly at: Instant;
  readonly to: Instant;
  readonly rowsMax: number;
};

/** The sum of the last entries in `(at, to]`, and where the others end. Entries of one instant are never divided. */
async function lastEntries(
  database: Queryable,
  { account, asset, at, to, rowsMax }: Stretch,
): Promise<Slice> {
  const own = 'e.account = $1 and e.asset = $2 and e.balance_after is null and e.at_ns <= $4';
  const [place] = await database.query<{ atNs: Instant }>(
    `select e.at_ns as "atNs" from entries e where ${own} and e.at_ns > $3 order by e.at_ns desc offset $5 limit 1`,
    [account, asset, at, to, rowsMax],
  );
  const next = place === undefined ? null : place.atNs < to ? place.atNs : to - 1n;
  const [row] = await database.query<{ sum: bigint | null }>(
    `select sum(e.delta) as sum from entries e where ${own} and e.at_ns > $3`,
    [account, asset, next ?? at, to],
  );
  return { sum: row!.sum, next };
}
