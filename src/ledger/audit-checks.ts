import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable, Statement } from '../database/database.ts';
import { isOnCluster } from '../database/distribution.ts';
import { formatAmount } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';

/** The line names the offending row. */
export type Violation = { readonly rule: string; readonly line: string };

/** A statement that returns the violations of one rule. Several rows of one cause may be one violation. */
export type Check = {
  /** Absent: the rows have a column `rule`. */
  readonly rule?: string;
  readonly sql: string;
  /** The check reads views of records: the condition of all transfers that it needs, see `overRecords`. */
  readonly transfers?: string;
  line(row: AuditRow, units: Units): string;
};
/** Names, ids and counts as text or number, units and instants as bigint. */
export type AuditRow = Readonly<Record<string, string | number | bigint | null>>;
export type Units = (asset: AuditRow[string] | undefined, units: AuditRow[string] | undefined) => string;

/** An asset that was removed from the configuration still has entries: its amounts are printed in units. */
export function unitsIn(assets: Assets): Units {
  return (asset, value) => formatAmount(value as bigint, assets.find(asset as string)?.decimals ?? 0);
}

const RECORD_VIEWS = ['expected_holds', 'expected_postings', 'record_faults'];

/**
 * A statement that reads views of records. These join transfers with each other and with other tables, which a cluster cannot plan: there
 * it first collects the transfers that the statement needs.
 */
export const overRecords = (sql: string, transfers: string): Statement => ({
  plain: sql,
  distributed: (views) => `with transfers as materialized (select * from transfers t where ${transfers}),
    ${RECORD_VIEWS.filter((name) => sql.includes(name))
      .map((name) => `${name} as (${views.get(name)})`)
      .join(', ')}
    select * from (${sql}) as result`,
});

/** The names and ids of a row, without the amounts: those change while commands post. */
const identityOf = (row: AuditRow): string =>
  JSON.stringify(Object.entries(row).filter(([, value]) => typeof value === 'string'));

/** `looksMax` of 1: a violation counts at once, because nothing that is checked can change meanwhile. */
export async function runCheck(
  tx: Queryable,
  check: Check,
  units: Units,
  parameters: readonly (string | bigint)[] = [],
  looksMax: number = LIMITS.auditLooksMax,
): Promise<Violation[]> {
  const sql = `${check.sql} limit ${LIMITS.auditViolationsMax + 1}`;
  const statement = check.transfers === undefined ? sql : overRecords(sql, check.transfers);
  let rows = await tx.query<AuditRow>(statement, parameters);
  // The servers of a cluster are not seen at the same moment: a violation is one that is there each time.
  for (let looks = 1; rows.length > 0 && looks < looksMax && (await isOnCluster(tx)); looks += 1) {
    await sleep(LIMITS.auditLookAgainMs);
    const seen = new Set(rows.map(identityOf));
    rows = (await tx.query<AuditRow>(statement, parameters)).filter((row) => seen.has(identityOf(row)));
  }
  return rows.map((row) => ({ rule: check.rule ?? String(row.rule), line: check.line(row, units) }));
}

const at = (row: AuditRow): string => formatInstant(row.at_ns as bigint);

/** The postings among these entries. */
export const postingBalances = (entries: string): Check => ({
  rule: 'posting-balances',
  sql: `select cause_id, at_ns, posting, min(asset) as asset, count(*) as entries, count(distinct asset) as assets, sum(delta) as sum
        from ${entries} as e group by cause_id, at_ns, posting
        having sum(delta) <> 0 or count(*) <> 2 or count(distinct asset) <> 1`,
  line: (row, units) =>
    `posting ${row.posting} of ${row.cause_id} at ${at(row)} has ${row.entries} entries of ${row.assets} asset(s) that sum to ${units(row.asset, row.sum)}, not 2 of one that sum to 0`,
});

/** `chained` has the columns of entries and `before`. */
export const runningBalance = (chained: string): Check => ({
  rule: 'running-balance-follows',
  sql: `select * from ${chained} as chained where balance_after <> before + delta`,
  line: (row, units) =>
    `${row.account} ${row.asset} of profile ${row.owner_id} at ${at(row)}, line ${row.line}: ${units(row.asset, row.before)} before and a change of ${units(row.asset, row.delta)} do not make ${units(row.asset, row.balance_after)}`,
});

/** `compared` has owner_id, asset, account, stored and counted. */
export const balanceEquals = (compared: string): Check => ({
  rule: 'balance-equals-entries',
  sql: `select * from ${compared} as compared where stored <> counted`,
  line: (row, units) =>
    `${row.account} ${row.asset} of profile ${row.owner_id} is stored as ${units(row.asset, row.stored)}, its entries sum to ${units(row.asset, row.counted)}`,
});

/** `counted` has account, asset and units. */
export const systemBalanceEquals = (counted: string): Check => ({
  rule: 'system-balance-equals-entries',
  sql: `with stored as (
          select account, asset, sum(part) as units
          from (select account, asset, balance as part from system_balances
                union all select account, asset, delta from system_deltas) as parts
          group by account, asset),
        counted as ${counted}
        select account, asset, coalesce(stored.units, 0) as stored, coalesce(counted.units, 0) as counted
        from stored full join counted using (account, asset)
        where coalesce(stored.units, 0) <> coalesce(counted.units, 0)`,
  line: (row, units) =>
    `account ${row.account} ${row.asset} is stored as ${units(row.asset, row.stored)}, its entries sum to ${units(row.asset, row.counted)}`,
});

/** `compared` has profile_id, asset, held and pending. */
export const heldEquals = (compared: string): Check => ({
  rule: 'held-equals-pending',
  sql: `select * from ${compared} as compared where held <> pending`,
  transfers: `t.status = 'PENDING' and t.direction = 'DEBIT'`,
  line: (row, units) =>
    `profile ${row.profile_id} holds ${units(row.asset, row.held)} ${row.asset}, its pending withdrawals need ${units(row.asset, row.pending)}`,
});

/** The rules of the entries alone, over all of them. */
export const ENTRY_CHECKS: readonly Check[] = [
  postingBalances('entries'),
  runningBalance(`(
    select owner_id, asset, account, at_ns, line, delta, balance_after,
           coalesce(lag(balance_after) over (partition by owner_id, asset, account order by at_ns, line), 0) as before
    from entries where balance_after is not null)`),
  balanceEquals(`(
    select owner_id, asset, account, coalesce(stored.units, 0) as stored, coalesce(counted.units, 0) as counted
    from (select profile_id as owner_id, asset, 'available' as account, available as units from balances
          union all select profile_id, asset, 'held', held from balances) as stored
    full join (select owner_id, asset, account, sum(delta) as units from entries
               where balance_after is not null group by owner_id, asset, account) as counted
    using (owner_id, asset, account))`),
  systemBalanceEquals(`(
    select account, asset, sum(delta) as units from entries where balance_after is null group by account, asset)`),
  {
    rule: 'value-is-conserved',
    sql: 'select asset, sum(delta) as sum from entries group by asset having sum(delta) <> 0',
    line: (row, units) => `all entries of ${row.asset} together sum to ${units(row.asset, row.sum)}, not 0`,
  },
  // The view lists what each capability expects to be held, and for which profile.
  heldEquals(`(
    select profile_id, asset, coalesce(b.held, 0) as held, coalesce(pending.units, 0) as pending
    from balances b
    full join (select profile_id, asset, sum(units) as units from expected_holds group by profile_id, asset) as pending
    using (profile_id, asset))`),
];
