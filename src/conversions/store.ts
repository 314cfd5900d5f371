import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { selectList, type Wanted } from '../database/list.ts';
import { createParameters } from '../database/select.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import { CONVERSION_SPACE, type Conversion } from './conversion.ts';

const COLUMNS = `c.id, c.customer_id as "customerId", c.profile_id as "profileId", c.source_asset as "sourceAsset",
  c.source_units as "sourceUnits", c.source_decimals as "sourceDecimals", c.target_asset as "targetAsset", c.target_units as "targetUnits",
  c.target_decimals as "targetDecimals", c.ref_id as "refId",
  c.identity_id as "identityId", c.account_id as "accountId", c.metadata, c.created_at_ns as "createdAtNs"`;

/** The decimals are stored as well, because a constraint of the table compares the two values. */
export const newConversions: Table<Conversion> = {
  name: 'conversions',
  isLog: true,
  write: (tx, rows) =>
    tx.query(
      `insert into conversions (id, customer_id, profile_id, source_asset, source_units, source_decimals, target_asset,
                                target_units, target_decimals, ref_id, identity_id, account_id, metadata, created_at_ns)
       select id, customer_id, profile_id, source_asset, source_units, source_decimals, target_asset, target_units,
              target_decimals, ref_id, identity_id, account_id, metadata::jsonb, created_at_ns
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::numeric[], $6::smallint[], $7::text[],
                   $8::numeric[], $9::smallint[], $10::text[], $11::uuid[], $12::uuid[], $13::text[], $14::bigint[])
            as row (id, customer_id, profile_id, source_asset, source_units, source_decimals, target_asset, target_units,
                    target_decimals, ref_id, identity_id, account_id, metadata, created_at_ns)`,
      columns(rows, {
        id: 'uuid',
        customerId: 'uuid',
        profileId: 'uuid',
        sourceAsset: 'text',
        sourceUnits: 'numeric',
        sourceDecimals: 'integer',
        targetAsset: 'text',
        targetUnits: 'numeric',
        targetDecimals: 'integer',
        refId: 'text',
        identityId: 'uuid',
        accountId: 'uuid',
        metadata: 'json',
        createdAtNs: 'bigint',
      }),
    ),
};

/** A conversion of that customer; undefined for one of another customer. */
export async function findConversion(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Conversion | undefined> {
  const [row] = await database.query<Conversion>(
    `select ${COLUMNS} from conversions c where c.id = $1 and c.customer_id = $2`,
    [id, customerId],
  );
  return row;
}

const FILTERS = {
  ids: { column: 'c.id', type: 'uuid', few: true },
  ref_ids: { column: 'c.id', type: 'uuid', few: true },
  profile_ids: { column: 'c.profile_id', type: 'uuid' },
} as const;
type FilterName = keyof typeof FILTERS;

export async function listConversions(
  database: Queryable,
  customerId: string,
  filters: Wanted<FilterName>,
  page: Page,
): Promise<Found<Conversion>> {
  const { ref_ids: refIds } = filters;
  const parameters = createParameters();
  return selectList<Conversion, FilterName>(database, page, {
    table: 'conversions',
    alias: 'c',
    columns: COLUMNS,
    owner: 'c.customer_id as "customerId"',
    parameters,
    own: `c.customer_id = ${parameters.add(customerId)}`,
    filters: FILTERS,
    wanted: {
      ...filters,
      ref_ids: refIds && (await resourcesByRefId(database, customerId, CONVERSION_SPACE, refIds)),
    },
  });
}

/** Those of these ids that are conversions, of any customer. */
export async function conversionsAmong(database: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from conversions where id = any ($1::uuid[])',
    [plainArray(ids)],
  );
  return rows.map(({ id }) => id);
}
