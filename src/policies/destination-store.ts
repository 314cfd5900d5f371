import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { type Condition, createParameters, selectPage } from '../database/select.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import type { DestinationFacts } from './evaluate.ts';

/** Destinations that customers have listed, or used. */

const COLUMNS = `d.id, d.customer_id as "customerId", d.destination, d.listed, d.label, d.added_by as "addedBy",
  d.created_at_ns as "createdAtNs"`;

export type Destination = {
  readonly id: string;
  readonly customerId: string;
  readonly destination: string;
  readonly listed: boolean;
  readonly label: string | null;
  readonly addedBy: string;
  readonly createdAtNs: Instant;
};

const UUID_LENGTH = 36;
export const destinationKey = (customerId: string, destination: string): string =>
  `${customerId}/${destination}`;

/** By `destinationKey`. The first use of one is written by the withdrawal; another one that was faster is kept. */
export const destinationTable: Table<DestinationFacts & Partial<Destination>> = {
  name: 'policy_destinations',
  async load(tx, keys) {
    const wanted = keys.map((key) => ({
      customerId: key.slice(0, UUID_LENGTH),
      destination: key.slice(UUID_LENGTH + 1),
    }));
    const rows = await tx.query<Destination>(
      `select ${COLUMNS} from unnest($1::uuid[], $2::text[]) as wanted (customer_id, destination)
       join policy_destinations d using (customer_id, destination)`,
      columns(wanted, { customerId: 'uuid', destination: 'text' }),
    );
    return new Map(rows.map((row) => [destinationKey(row.customerId, row.destination), row]));
  },
  write: (tx, rows) =>
    tx.query(
      `insert into policy_destinations (id, customer_id, destination, listed, label, added_by, created_at_ns)
       select id, customer_id, destination, false, null, added_by, at_ns
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[])
            as used (id, customer_id, destination, added_by, at_ns)
       order by customer_id, destination on conflict do nothing`,
      columns(rows as readonly Destination[], {
        id: 'uuid',
        customerId: 'uuid',
        destination: 'text',
        addedBy: 'text',
        createdAtNs: 'bigint',
      }),
    ),
};

/** What is known about these destinations, by `destinationKey`. */
export async function destinationsAmong(
  database: Queryable,
  many: readonly Pick<Destination, 'customerId' | 'destination'>[],
): Promise<ReadonlyMap<string, Destination>> {
  const rows = await database.query<Destination>(
    `select ${COLUMNS} from (select distinct * from unnest($1::uuid[], $2::text[])) as wanted (customer_id, destination)
     join policy_destinations d using (customer_id, destination)`,
    columns(many, { customerId: 'uuid', destination: 'text' }),
  );
  return new Map(rows.map((row) => [destinationKey(row.customerId, row.destination), row]));
}

/** Of that customer; listed, or only used. */
export async function findDestination(
  database: Queryable,
  customerId: string,
  destination: string,
): Promise<Destination | undefined> {
  const [row] = await database.query<Destination>(
    `select ${COLUMNS} from policy_destinations d where d.customer_id = $1 and d.destination = $2`,
    [customerId, destination],
  );
  return row;
}

/** Lists it; one that is listed already stays as it is, one that was only used is listed from now on. */
export async function addDestination(
  tx: Transaction,
  { id, customerId, destination, label, addedBy }: Omit<Destination, 'listed' | 'createdAtNs'>,
): Promise<{ readonly row: Destination; readonly isNew: boolean }> {
  const added = await tx.query(
    `insert into policy_destinations as d (id, customer_id, destination, listed, label, added_by, created_at_ns)
     values ($1, $2, $3, true, $4, $5, ${CLOCK_NS})
     on conflict (customer_id, destination) do update
     set listed = true, label = excluded.label, added_by = excluded.added_by, created_at_ns = excluded.created_at_ns
     where not d.listed returning d.id`,
    [id, customerId, destination, label, addedBy],
  );
  const [row] = await tx.query<Destination>(
    `select ${COLUMNS} from policy_destinations d where d.customer_id = $1 and d.destination = $2`,
    [customerId, destination],
  );
  return { row: row!, isNew: added.length > 0 };
}

/** Undefined if the customer has not listed it. */
export async function removeDestination(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<Destination | undefined> {
  const [row] = await tx.query<Destination>(
    `delete from policy_destinations d where d.customer_id = $1 and d.id = $2 and d.listed returning ${COLUMNS}`,
    [customerId, id],
  );
  return row;
}

/** What stands before the slash: a crypto network, or `fiat_account`. */
const KIND = "split_part(d.destination, '/', 1)";

export type DestinationFilters = {
  readonly ids?: readonly string[] | undefined;
  /** Only addresses on these networks. */
  readonly cryptoNetworks?: readonly string[] | undefined;
};

/** A listed address of that customer. */
export async function findAddress(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Destination | undefined> {
  const [row] = await database.query<Destination>(
    `select ${COLUMNS} from policy_destinations d
     where d.customer_id = $1 and d.id = $2 and d.listed and ${KIND} <> 'fiat_account'`,
    [customerId, id],
  );
  return row;
}

export function listDestinations(
  database: Queryable,
  customerId: string,
  { ids, cryptoNetworks }: DestinationFilters,
  page: Page,
): Promise<Found<Destination>> {
  const parameters = createParameters();
  const own = `d.customer_id = ${parameters.add(customerId)} and d.listed`;
  const where = ids === undefined ? own : `${own} and ${parameters.anyOf('d.id', 'uuid', ids)}`;
  const networks: Condition[] =
    cryptoNetworks === undefined ? [] : [(here) => here.anyOf(KIND, 'text', cryptoNetworks)];
  return selectPage(database, page, {
    table: 'policy_destinations',
    alias: 'd',
    columns: COLUMNS,
    owner: 'd.customer_id as "customerId"',
    parameters,
    branches: [{ where }],
    filters: networks,
  });
}
