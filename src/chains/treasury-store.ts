import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { WalletLook } from '../rails/treasury.ts';
import type { BlockId, Coin } from './driver.ts';
import { COLD_PATH } from './treasury-driver.ts';

/** What the wallets of a network hold, beside the ledger. */

/** UTXO: what the scanner has found up to a block, with or without the cold wallet. */
export async function coinUnits(
  database: Queryable,
  network: string,
  height: number,
  isCold: boolean,
): Promise<bigint> {
  const [row] = await database.query<{ units: bigint }>(
    `select coalesce(sum(units), 0) as units from chain_coins
     where network = $1 and height <= $2 and (spent_height is null or spent_height > $2) and (path = $3) = $4`,
    [network, height, COLD_PATH, isCold],
  );
  return row!.units;
}

/** UTXO: coins of the cold wallet that no block spends, largest first. */
export function coldCoins(database: Queryable, network: string, max: number): Promise<Coin[]> {
  return database.query<Coin>(
    `select tx_hash as "txHash", output::integer as output, units, address, path, height::integer as height
     from chain_coins where network = $1 and path = $2 and height is not null and spent_height is null
     order by units desc, tx_hash, output limit $3`,
    [network, COLD_PATH, max],
  );
}

/** How long payments that were made may take until the ledger shows them, before that is a difference. */
const UNBOOKED_NS = 3_600_000n * NS_PER_MS;

/**
 * Per asset, in one snapshot: what a wallet must hold at a block, by the ledger. The ledger shows what was booked until now, so what
 * was booked for later blocks is taken back, and what earlier blocks have and the ledger has not yet is added.
 */
const EXPECTED = `
  select asset, sum(units) as units from (
    select asset, -units as units from treasury_ledger where account = 'clearing:' || lower($1)
    union all
    select asset, case when height <= $2 then units else 0 end from chain_deposits where network = $1 and not reported
    union all
    select asset, -units from chain_deposits where network = $1 and height > $2 and reported
    union all
    select asset, units from treasury_notices where network = $1
    union all
    select asset, case when booked then units else -units end from treasury_payments
    where network = $1 and updated_at_ns > ${CLOCK_NS} - ${UNBOOKED_NS} and booked = (height > $2)
    union all
    select fee_asset, fee_units from chain_assignments
    where network = $1 and state in ('SUCCEEDED', 'FAILED') and updated_at_ns > ${CLOCK_NS} - ${UNBOOKED_NS} and height > $2
    union all
    select m.asset, m.units from chain_assignments a join chain_moves m on m.assignment_id = a.id
    where a.network = $1 and a.purpose = 'TO_COLD' and a.state = 'SUCCEEDED'
      and a.updated_at_ns > ${CLOCK_NS} - ${UNBOOKED_NS} and a.height > $2
    union all
    select asset, case when booked then -units else units end from chain_refills
    where network = $1 and booked = (height > $2) and (not booked or updated_at_ns > ${CLOCK_NS} - ${UNBOOKED_NS})
  ) as parts group by asset`;

export type Held = {
  readonly asset: string;
  readonly hotUnits: bigint;
  readonly coldUnits: bigint | null;
  readonly gasPayments: number | null;
};

/** Compares with the ledger, and records both. */
export async function recordWallets(
  database: Queryable,
  network: string,
  { height, hash }: BlockId,
  held: readonly Held[],
): Promise<void> {
  await database.query(
    `insert into chain_wallets as w (network, asset, hot_units, cold_units, gas_payments, height, hash, observed_at_ns,
                                     difference_units, differs_since_ns)
     select $1, h.asset, h.hot, h.cold, h.gas, $2, $3, ${CLOCK_NS}, d.units, case when d.units <> 0 then ${CLOCK_NS} end
     from unnest($4::text[], $5::numeric[], $6::numeric[], $7::bigint[]) as h (asset, hot, cold, gas)
     left join (${EXPECTED}) e using (asset)
     left join (select asset, sum(units) as units from chain_unswept where network = $1 group by asset) u using (asset)
     cross join lateral (select h.hot + coalesce(u.units, 0) - coalesce(e.units, 0) as units) d
     on conflict (network, asset) do update
     set hot_units = excluded.hot_units, cold_units = excluded.cold_units, gas_payments = excluded.gas_payments,
         height = excluded.height, hash = excluded.hash, observed_at_ns = excluded.observed_at_ns,
         difference_units = excluded.difference_units,
         differs_since_ns = case when excluded.difference_units <> 0 then coalesce(w.differs_since_ns, excluded.observed_at_ns) end`,
    [
      network,
      height,
      hash,
      ...columns(held, { asset: 'text', hotUnits: 'numeric', coldUnits: 'numeric', gasPayments: 'bigint' }),
    ],
  );
}

export function readWallets(database: Queryable, network: string, native: string): Promise<WalletLook[]> {
  const ledger = (account: string): string =>
    `coalesce((select units from treasury_ledger l where l.account = '${account}:' || lower($1) and l.asset = w.asset), 0)`;
  return database.query<WalletLook>(
    `select w.asset, w.hot_units as "hotUnits", w.cold_units as "coldUnits", w.height::integer as height, w.hash,
       w.observed_at_ns as "observedAtNs", ((${CLOCK_NS} - w.observed_at_ns) / 1000000)::integer as "ageMs",
       w.gas_payments::integer as "gasPayments", w.difference_units as "differenceUnits",
       w.differs_since_ns as "differsSinceNs", ((${CLOCK_NS} - w.differs_since_ns) / 1000000)::float8 as "differsMs",
       coalesce((select sum(u.units) from chain_unswept u where u.network = $1 and u.asset = w.asset), 0) as "unsweptUnits",
       ${ledger('clearing')} as "clearingUnits", ${ledger('cold')} as "coldLedgerUnits",
       ${ledger('network-fees')} as "networkFeesUnits",
       coalesce((select sum(d.units) from chain_deposits d
                 where d.network = $1 and d.asset = w.asset and not d.reported), 0) as "arrivingUnits",
       coalesce((select sum(p.units) from chain_assignments a join chain_assignment_payments p on p.assignment_id = a.id
                 where a.network = $1 and a.state = 'ASSIGNED' and p.active and p.asset = w.asset), 0)
       + coalesce((select sum(m.units) from chain_assignments a join chain_moves m on m.assignment_id = a.id
                   where a.network = $1 and a.state = 'ASSIGNED' and a.purpose = 'TO_COLD' and m.asset = w.asset), 0) as "leavingUnits",
       case when w.asset = $2 then coalesce((
         select sum((select max(v.fee_units_max) from chain_versions v where v.assignment_id = a.id))
         from chain_assignments a where a.network = $1 and a.state = 'ASSIGNED'), 0) else 0 end as "reservedUnits"
     from chain_wallets w where w.network = $1 order by w.asset`,
    [network, native],
  );
}

export type Excess = {
  readonly asset: string;
  readonly hotUnits: bigint;
  /** What open assignments take out of the hot wallet. */
  readonly leavingUnits: bigint;
};

/**
 * Assets with what the last look saw, without those for which something is on its way to the cold wallet, or has arrived there after
 * the look.
 */
export function movableWallets(database: Queryable, network: string): Promise<Excess[]> {
  return database.query<Excess>(
    `select w.asset, w.hot_units as "hotUnits",
       coalesce((select sum(p.units) from chain_assignments a join chain_assignment_payments p on p.assignment_id = a.id
                 where a.network = $1 and a.state = 'ASSIGNED' and p.active and p.asset = w.asset), 0) as "leavingUnits"
     from chain_wallets w
     where w.network = $1 and not exists (
       select from chain_assignments a join chain_moves m on m.assignment_id = a.id
       where a.network = $1 and a.purpose = 'TO_COLD' and m.asset = w.asset
         and (a.state = 'ASSIGNED' or (a.state = 'SUCCEEDED' and a.height > w.height)))`,
    [network],
  );
}
