import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Backlog } from '../kernel/capability.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { signedAmount } from './rules.ts';

/** A balance outside, beside that of the ledger at the same time. Both as the bank sees them: positive is what is there. */
export type OutsideBalance = {
  readonly id: string;
  readonly account: string;
  readonly asset: string;
  readonly atNs: Instant;
  readonly reference: string;
  readonly units: bigint;
  readonly ledgerUnits: bigint;
  readonly actor: string;
  readonly createdAtNs: Instant;
};

const COLUMNS = `b.id, b.account, b.asset, b.at_ns as "atNs", b.reference, b.units, b.ledger_units as "ledgerUnits", b.actor,
  b.created_at_ns as "createdAtNs"`;

/** The balance of that time and reference, if it was recorded before; it may have other units. */
export async function insertBalance(
  database: Queryable,
  balance: Omit<OutsideBalance, 'id' | 'createdAtNs'>,
): Promise<{ readonly balance: OutsideBalance; readonly isNew: boolean }> {
  const { account, asset, atNs, reference, units, ledgerUnits, actor } = balance;
  const [made] = await database.query<OutsideBalance>(
    `insert into reconciliation_balances as b
       (id, account, asset, at_ns, reference, units, ledger_units, actor, created_at_ns)
     values ($1, $2, $3, $4, $5, $6, $7, $8, ${CLOCK_NS})
     on conflict (account, asset, at_ns, reference) do nothing returning ${COLUMNS}`,
    [newId(), account, asset, atNs, reference, units, ledgerUnits, actor],
  );
  if (made !== undefined) return { balance: made, isNew: true };
  const [known] = await database.query<OutsideBalance>(
    `select ${COLUMNS} from reconciliation_balances b
     where b.account = $1 and b.asset = $2 and b.at_ns = $3 and b.reference = $4`,
    [account, asset, atNs, reference],
  );
  return { balance: known!, isNew: false };
}

/** What open items up to that time explain: lines without a movement, less movements without a line. */
export async function openUnits(
  database: Queryable,
  { account, asset, atNs }: Pick<OutsideBalance, 'account' | 'asset' | 'atNs'>,
): Promise<bigint> {
  const [row] = await database.query<{ units: bigint }>(
    `select coalesce(sum(case i.side when 'STATEMENT' then i.units else -i.units end), 0) as units
     from reconciliation_items i
     where i.account = $1 and i.side in ('LEDGER', 'STATEMENT') and i.match_id is null and i.created_at_ns <= $3
       and i.asset = $2`,
    [account, asset, atNs],
  );
  return row!.units;
}

export function listBalances(
  database: Queryable,
  account: string,
  page: Page,
): Promise<Found<OutsideBalance>> {
  const parameters = createParameters();
  return selectPage<OutsideBalance>(database, page, {
    table: 'reconciliation_balances',
    alias: 'b',
    columns: COLUMNS,
    parameters,
    branches: [{ where: `b.account = ${parameters.add(account)}` }],
    filters: [],
  });
}

/** The last balance of each account and asset. */
export function lastBalances(database: Queryable): Promise<OutsideBalance[]> {
  return database.query<OutsideBalance>(
    `select b.*
     from (select distinct account, asset from reconciliation_balances) k
     cross join lateral (select ${COLUMNS} from reconciliation_balances b
                         where b.account = k.account and b.asset = k.asset order by at_ns desc limit 1) b
     order by b.account, b.asset`,
  );
}

/** Balances that differ from the ledger of their time, oldest first. */
export function listDifferences(
  database: Queryable,
  account: string,
  max: number,
): Promise<readonly OutsideBalance[]> {
  return database.query<OutsideBalance>(
    `select ${COLUMNS} from reconciliation_balances b
     where b.account = $1 and b.units <> b.ledger_units order by b.at_ns, b.id limit $2`,
    [account, max],
  );
}

type Difference = { readonly account: string; readonly asset: string; readonly units: bigint };

/** The last balance of each account and asset. */
export const differenceBacklog = (database: Queryable, assets: Assets): Backlog => ({
  gauges: {
    ferry_reconciliation_difference:
      'Last balance that a bank or chain reported, less that of the ledger at the same time, in whole units of the asset',
  },
  labels: ['account', 'asset'],
  async read() {
    const rows = await database.query<Difference>(
      `select k.account, k.asset, b.units - b.ledger_units as units
       from (select distinct account, asset from reconciliation_balances) k
       cross join lateral (select units, ledger_units from reconciliation_balances b
                           where b.account = k.account and b.asset = k.asset order by at_ns desc limit 1) b`,
    );
    return rows.map(({ account, asset, units }) => ({
      account,
      asset,
      ferry_reconciliation_difference: signedAmount(assets, asset, units),
    }));
  },
});
