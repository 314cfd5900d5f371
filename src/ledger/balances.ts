import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { balanceKeyText } from './book.ts';
import type { BalanceKey, SystemAccountName, Table } from './command.ts';

/** As it is read: reads of a customer refuse a balance of a profile that is not its own (`own-rows.ts`). */
type ProfileBalance = AssetBalance & { readonly profileId: string };
const assetBalance = ({ asset, available, held }: ProfileBalance): AssetBalance => ({
  asset,
  available,
  held,
});

export type AssetBalance = { readonly asset: string; readonly available: bigint; readonly held: bigint };

/** The current balances of a profile, for every asset that it ever had. */
export async function balancesOf(database: Queryable, profileId: string): Promise<AssetBalance[]> {
  const rows = await database.query<ProfileBalance>(
    'select profile_id as "profileId", asset, available, held from balances where profile_id = $1 order by asset',
    [profileId],
  );
  return rows.map(assetBalance);
}

/** What is available now, by `balanceKeyText`; balances that never moved are missing. Locks nothing: for planning only. */
export async function availableOf(
  database: Queryable,
  keys: readonly BalanceKey[],
): Promise<Map<string, bigint>> {
  const rows = await database.query<{ profile_id: string; asset: string; available: bigint }>(
    `select b.profile_id, b.asset, b.available
     from unnest($1::uuid[], $2::text[]) as wanted (profile_id, asset)
     join balances b using (profile_id, asset)`,
    columns(keys, { profileId: 'uuid', asset: 'text' }),
  );
  return new Map(rows.map((row) => [balanceKeyText(row.profile_id, row.asset), row.available]));
}

/**
 * The balances of a profile at that instant, including what was posted at that instant: for each account the balance after
 * its last entry up to then, one index lookup each.
 */
export async function balancesAt(
  database: Queryable,
  profileId: string,
  at: Instant,
): Promise<AssetBalance[]> {
  const last = (account: string): string => `coalesce((
    select e.balance_after from entries e
    where e.owner_id = b.profile_id and e.asset = b.asset and e.account = '${account}' and e.at_ns <= $2
    order by e.at_ns desc, e.line desc limit 1), 0)`;
  const rows = await database.query<ProfileBalance>(
    `select b.profile_id as "profileId", b.asset, ${last('available')} as available, ${last('held')} as held
     from balances b where b.profile_id = $1 order by b.asset`,
    [profileId, at],
  );
  return rows.map(assetBalance);
}

export type SystemBalance = { readonly account: string; readonly asset: string; readonly balance: bigint };

/** The service's own accounts: rolled-up balances plus the deltas that are not rolled up yet, in one snapshot. */
export async function systemBalances(database: Queryable): Promise<SystemBalance[]> {
  return database.query<SystemBalance>(
    `select account, asset, sum(part)::numeric as balance
     from (select account, asset, balance as part from system_balances
           union all select account, asset, delta from system_deltas) as parts
     group by account, asset order by account, asset`,
  );
}

export type SystemAccountRow = {
  readonly account: SystemAccountName;
  readonly asset: string;
  readonly balance: bigint;
};

export function systemAccountKey(account: SystemAccountName, asset: string): string {
  return `${asset}/${account}`;
}

/**
 * Accounts of the service for commands that must not take more than is there. Nothing is locked: such commands have to
 * exclude each other. They write the row that they leave behind for later commands of the batch; the stored balance changes by
 * their postings.
 */
export const systemAccounts: Table<SystemAccountRow> = {
  name: 'system_balances',
  async load(tx, keys) {
    const wanted = keys.map((key) => {
      const slash = key.indexOf('/');
      return { asset: key.slice(0, slash), account: key.slice(slash + 1) };
    });
    const rows = await tx.query<SystemAccountRow>(
      `select wanted.account, wanted.asset,
              coalesce((select b.balance from system_balances b where b.account = wanted.account and b.asset = wanted.asset), 0)
              + coalesce((select sum(d.delta) from system_deltas d where d.account = wanted.account and d.asset = wanted.asset), 0)
                as balance
       from unnest($1::text[], $2::text[]) as wanted (account, asset)`,
      columns(wanted, { account: 'text', asset: 'text' }),
    );
    return new Map(rows.map((row) => [systemAccountKey(row.account, row.asset), row]));
  },
  write: () => Promise.resolve(),
};

/**
 * Rolls up the deltas that batches appended into one row per account. Any number of nodes may do this at once: each takes
 * different rows. Returns the number of rows that were rolled up.
 */
export async function rollUpSystemBalances(database: Queryable, deltasMax: number): Promise<number> {
  const [row] = await database.query<{ folded: number }>(
    `with taken as (
       delete from system_deltas
       where ctid = any (array (select ctid from system_deltas limit $1 for update skip locked))
       returning account, asset, delta),
     sums as (select account, asset, sum(delta) as delta from taken group by account, asset order by account, asset),
     folded as (
       insert into system_balances (account, asset, balance) select account, asset, delta from sums
       on conflict (account, asset) do update set balance = system_balances.balance + excluded.balance)
     select count(*)::integer as folded from taken`,
    [deltasMax],
  );
  return row!.folded;
}
