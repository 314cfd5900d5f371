import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Database, Transaction } from '../database/database.ts';
import { formatAmount } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';

/**
 * Verifies the ledger from its entries alone, in one snapshot, while the service runs. Each check is one statement that
 * returns the violations of one rule.
 */
export type Violation = { readonly rule: AuditRule; readonly line: string };
export type AuditRule =
  | 'posting-balances'
  | 'running-balance-follows'
  | 'balance-equals-entries'
  | 'system-balance-equals-entries'
  | 'value-is-conserved'
  | 'held-equals-pending';

export type AuditReport = {
  readonly violations: readonly Violation[];
  /** There are more violations than are listed. */
  readonly truncated: boolean;
  readonly entryCount: bigint;
  readonly accountCount: bigint;
};

type Check = { rule: AuditRule; sql: string; line(row: AuditRow, units: Units): string };
/** Names, ids and counts as text or number, units and instants as bigint. */
type AuditRow = Record<string, string | number | bigint>;
type Units = (asset: AuditRow[string] | undefined, units: AuditRow[string] | undefined) => string;

const CHECKS: readonly Check[] = [
  {
    rule: 'posting-balances',
    sql: `select cause_id, at_ns, posting, min(asset) as asset, count(*) as entries, count(distinct asset) as assets, sum(delta) as sum
          from entries group by cause_id, at_ns, posting
          having sum(delta) <> 0 or count(*) <> 2 or count(distinct asset) <> 1`,
    line: (row, units) =>
      `posting ${row.posting} of ${row.cause_id} at ${formatInstant(row.at_ns as bigint)} has ${row.entries} entries of ${row.assets} asset(s) that sum to ${units(row.asset, row.sum)}, not 2 of one that sum to 0`,
  },
  {
    rule: 'running-balance-follows',
    sql: `select * from (
            select owner_id, asset, account, at_ns, line, delta, balance_after,
                   coalesce(lag(balance_after) over (partition by owner_id, asset, account order by at_ns, line), 0) as before
            from entries where balance_after is not null) as chained
          where balance_after <> before + delta`,
    line: (row, units) =>
      `${row.account} ${row.asset} of profile ${row.owner_id} at ${formatInstant(row.at_ns as bigint)}, line ${row.line}: ${units(row.asset, row.before)} before and a change of ${units(row.asset, row.delta)} do not make ${units(row.asset, row.balance_after)}`,
  },
  {
    rule: 'balance-equals-entries',
    sql: `with stored as (
            select profile_id as owner_id, asset, 'available' as account, available as units from balances
            union all select profile_id, asset, 'held', held from balances),
          counted as (
            select owner_id, asset, account, sum(delta) as units from entries
            where balance_after is not null group by owner_id, asset, account)
          select owner_id, asset, account, coalesce(stored.units, 0) as stored, coalesce(counted.units, 0) as counted
          from stored full join counted using (owner_id, asset, account)
          where coalesce(stored.units, 0) <> coalesce(counted.units, 0)`,
    line: (row, units) =>
      `${row.account} ${row.asset} of profile ${row.owner_id} is stored as ${units(row.asset, row.stored)}, its entries sum to ${units(row.asset, row.counted)}`,
  },
  {
    rule: 'system-balance-equals-entries',
    sql: `with stored as (
            select account, asset, sum(part) as units
            from (select account, asset, balance as part from system_balances
                  union all select account, asset, delta from system_deltas) as parts
            group by account, asset),
          counted as (
            select account, asset, sum(delta) as units from entries where balance_after is null group by account, asset)
          select account, asset, coalesce(stored.units, 0) as stored, coalesce(counted.units, 0) as counted
          from stored full join counted using (account, asset)
          where coalesce(stored.units, 0) <> coalesce(counted.units, 0)`,
    line: (row, units) =>
      `account ${row.account} ${row.asset} is stored as ${units(row.asset, row.stored)}, its entries sum to ${units(row.asset, row.counted)}`,
  },
  {
    rule: 'value-is-conserved',
    sql: 'select asset, sum(delta) as sum from entries group by asset having sum(delta) <> 0',
    line: (row, units) => `all entries of ${row.asset} together sum to ${units(row.asset, row.sum)}, not 0`,
  },
  {
    // The view lists what each capability expects to be held, and for which profile.
    rule: 'held-equals-pending',
    sql: `with pending as (select profile_id, asset, sum(units) as units from expected_holds group by profile_id, asset)
          select profile_id, asset, coalesce(b.held, 0) as held, coalesce(pending.units, 0) as pending
          from balances b full join pending using (profile_id, asset)
          where coalesce(b.held, 0) <> coalesce(pending.units, 0)`,
    line: (row, units) =>
      `profile ${row.profile_id} holds ${units(row.asset, row.held)} ${row.asset}, its pending withdrawals need ${units(row.asset, row.pending)}`,
  },
];

async function runCheck(tx: Transaction, check: Check, units: Units): Promise<Violation[]> {
  const rows = await tx.query<AuditRow>(`${check.sql} limit ${LIMITS.auditViolationsMax + 1}`);
  return rows.map((row) => ({ rule: check.rule, line: check.line(row, units) }));
}

/** For the metric. Undefined if another node is running an audit: only one at a time reads all entries. */
export async function auditUnlessRunning(
  database: Database,
  assets: Assets,
): Promise<AuditReport | undefined> {
  const connection = await database.reserve();
  try {
    const [row] = await connection.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(${ADVISORY_LOCKS.audit}) as locked`,
    );
    if (!row!.locked) return undefined;
    return await audit(database, assets);
  } finally {
    // Closing the connection releases the lock.
    connection.discard();
  }
}

export async function audit(database: Database, assets: Assets): Promise<AuditReport> {
  // An asset that was removed from the configuration still has entries: its amounts are printed in units.
  const units: Units = (asset, value) =>
    formatAmount(value as bigint, assets.find(asset as string)?.decimals ?? 0);
  return database.snapshot(async (tx) => {
    const violations: Violation[] = [];
    for (const check of CHECKS) violations.push(...(await runCheck(tx, check, units)));
    const [counts] = await tx.query<{ entries: bigint; accounts: bigint }>(
      'select (select count(*) from entries) as entries, (select count(*) from balances) as accounts',
    );
    return {
      violations: violations.slice(0, LIMITS.auditViolationsMax),
      truncated: violations.length > LIMITS.auditViolationsMax,
      entryCount: counts!.entries,
      accountCount: counts!.accounts,
    };
  });
}
