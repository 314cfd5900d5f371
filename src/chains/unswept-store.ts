import { textArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Received } from './driver.ts';
import type { Unswept } from './treasury-driver.ts';

/** What deposit addresses hold: rows are made by deposits, read again after a block that changed them, and removed when empty. */

export async function noteArrivals(
  tx: Transaction,
  network: string,
  height: number,
  received: readonly Received[],
  pathOf: (address: string) => string | undefined,
): Promise<void> {
  const rows = new Map(
    received.map(({ address, asset }) => [
      `${address} ${asset}`,
      { network, address, asset, path: pathOf(address)!, height },
    ]),
  );
  if (rows.size === 0) return;
  await tx.query(
    `insert into chain_unswept as u (network, address, asset, path, changed_height)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     on conflict (network, address, asset) do update set changed_height = greatest(u.changed_height, excluded.changed_height)`,
    columns([...rows.values()], {
      network: 'text',
      address: 'text',
      asset: 'text',
      path: 'text',
      height: 'bigint',
    }),
  );
}

/** The transaction of an assignment has changed what deposit addresses hold: those that it emptied, or paid the gas of a sweep. */
export async function markSwept(tx: Transaction, assignmentId: string, height: number): Promise<void> {
  await tx.query(
    `update chain_unswept u set changed_height = greatest(u.changed_height, $2)
     from chain_assignments a
     where a.id = $1 and a.purpose = 'SWEEP' and u.network = a.network
       and (u.address = a.lane or u.address = any (string_to_array(a.details ->> 'sources', ',')))`,
    [assignmentId, height],
  );
  await tx.query(
    `insert into chain_unswept as u (network, address, asset, path, changed_height)
     select a.network, m.address, m.asset, a.details ->> 'path', $2
     from chain_assignments a join chain_moves m on m.assignment_id = a.id
     where a.id = $1 and a.purpose = 'UPKEEP' and a.details ? 'path'
     on conflict (network, address, asset) do update set changed_height = greatest(u.changed_height, excluded.changed_height)`,
    [assignmentId, height],
  );
}

export type UnsweptRow = Unswept & { readonly changedHeight: number; readonly readHeight: number };

const COLUMNS = `address, path, asset, units, changed_height::integer as "changedHeight", read_height::integer as "readHeight"`;

/** Addresses whose rows must be read again, now that the chain is final up to that height. */
export async function staleAddresses(
  database: Queryable,
  network: string,
  height: number,
  busy: readonly string[],
  max: number,
): Promise<string[]> {
  const rows = await database.query<{ address: string }>(
    `select distinct address from chain_unswept
     where network = $1 and ((changed_height <= $2 and read_height < changed_height) or address = any ($3::text[]))
     order by address limit $4`,
    [network, height, textArray(busy), max],
  );
  return rows.map(({ address }) => address);
}

/** Assets that are not configured are not held by anybody, as far as the ledger knows. */
export async function recordHeld(
  database: Queryable,
  network: string,
  address: string,
  held: ReadonlyMap<string, bigint>,
  height: number,
): Promise<void> {
  const rows = [...held].map(([asset, units]) => ({ asset, units }));
  await database.query(
    `update chain_unswept u set units = coalesce(h.units, 0), read_height = $3
     from chain_unswept o left join unnest($4::text[], $5::numeric[]) as h (asset, units) on h.asset = o.asset
     where o.network = $1 and o.address = $2 and u.network = o.network and u.address = o.address and u.asset = o.asset`,
    [network, address, height, ...columns(rows, { asset: 'text', units: 'numeric' })],
  );
  await database.query(
    'delete from chain_unswept where network = $1 and address = $2 and units = 0 and changed_height <= read_height',
    [network, address],
  );
}

/** Rows worth at least the bound of their asset; without one, those of the coin. Largest first, without the busy addresses. */
export function worthwhile(
  database: Queryable,
  network: string,
  bounds: ReadonlyMap<string, bigint>,
  busy: readonly string[],
  max: number,
): Promise<UnsweptRow[]> {
  const rows = [...bounds].map(([asset, units]) => ({ asset, units }));
  return database.query<UnsweptRow>(
    `select ${COLUMNS} from chain_unswept u
     join unnest($2::text[], $3::numeric[]) as b (asset, least) using (asset)
     where network = $1 and read_height >= changed_height and units >= b.least and address <> all ($4::text[])
     order by units desc, address limit $5`,
    [network, ...columns(rows, { asset: 'text', units: 'numeric' }), textArray(busy), max],
  );
}

/** By asset. */
export async function unsweptTotals(
  database: Queryable,
  network: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await database.query<{ asset: string; units: bigint }>(
    'select asset, sum(units) as units from chain_unswept where network = $1 group by asset',
    [network],
  );
  return new Map(rows.map(({ asset, units }) => [asset, units]));
}

/** Addresses that are swept, or get gas, at the moment. */
export async function busyAddresses(database: Queryable, network: string): Promise<string[]> {
  const rows = await database.query<{ address: string }>(
    `select lane as address from chain_assignments where network = $1 and state = 'ASSIGNED' and purpose = 'SWEEP'
     union
     select unnest(string_to_array(details ->> 'sources', ',')) from chain_assignments
     where network = $1 and state = 'ASSIGNED' and purpose = 'SWEEP' and details ? 'sources'
     union
     select m.address from chain_assignments a join chain_moves m on m.assignment_id = a.id
     where a.network = $1 and a.state = 'ASSIGNED' and a.purpose = 'UPKEEP'`,
    [network],
  );
  return rows.map(({ address }) => address);
}
