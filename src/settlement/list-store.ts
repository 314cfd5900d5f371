import type { Queryable } from '../database/database.ts';
import { type Filters, selectList, type Wanted } from '../database/list.ts';
import { type Branch, createParameters, type Parameters } from '../database/select.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import { COVERED } from './effects.ts';
import { COLUMNS, fromStored, type StoredSettlement } from './store.ts';
import { SETTLEMENT_STATUSES, type Settlement } from './transaction.ts';

type FilterName =
  | 'ids'
  | 'ref_ids'
  | 'statuses'
  | 'profile_ids'
  | 'source_profile_ids'
  | 'target_profile_ids'
  | 'secondary_statuses';
export type SettlementFilters = Wanted<Exclude<FilterName, 'source_profile_ids' | 'target_profile_ids'>> & {
  readonly source_profile_id?: string | undefined;
  readonly target_profile_id?: string | undefined;
};

/** The name that `secondaryStatusOf` shows. */
const SECONDARY_STATUS = `coalesce(t.secondary_status ->> 'name', case t.status
  when 'PENDING' then 'AWAITING_AFFIRMATION'
  when 'AFFIRMED' then case when t.window_start_ns > t.updated_at_ns then 'AWAITING_WINDOW' else '${COVERED.name}' end end)`;

function filtersOf(caller: string): Filters<FilterName> {
  return {
    ids: { column: 't.id', type: 'uuid', few: true },
    // Two customers may use the same ref_id: only transactions that the caller submitted are found by it.
    ref_ids: {
      column: 't.ref_id',
      type: 'text',
      few: true,
      where: ({ anyOf }, values) => `t.customer_id = ${caller} and ${anyOf('t.ref_id', 'text', values)}`,
    },
    statuses: { column: 't.status', type: 'text' },
    // No index serves these filters (see the migration): a page scans a bounded number of the customer's transactions.
    profile_ids: {
      column: 't.source_profile_id',
      type: 'uuid',
      where: ({ anyOf }, values) =>
        `(${anyOf('t.source_profile_id', 'uuid', values)} or ${anyOf('t.target_profile_id', 'uuid', values)})`,
    },
    source_profile_ids: { column: 't.source_profile_id', type: 'uuid' },
    target_profile_ids: { column: 't.target_profile_id', type: 'uuid' },
    secondary_statuses: { column: SECONDARY_STATUS, type: 'text' },
  };
}

/**
 * Source and target have an index each, whose rows are merged: "source or target" in one condition reads the customer's
 * whole history, 9,181 blocks of 300,000 transactions. Merged, a page reads 150 blocks of a million transactions. A
 * customer that is both parties gets the row twice, next to each other; `distinct on` drops the second one.
 */
function branchesOf(caller: string, statuses: readonly string[], parameters: Parameters): Branch[] {
  return ['t.customer_id', 't.target_customer_id'].flatMap((party) =>
    [...new Set(statuses)].map((status) => ({
      where: `${party} = ${caller} and t.status = ${parameters.add(status)}`,
    })),
  );
}

/** One page of the transactions in which the customer is source or target. */
export async function listSettlements(
  database: Queryable,
  customerId: string,
  filters: SettlementFilters,
  page: Page,
): Promise<Found<Settlement>> {
  const { ids, ref_ids: refIds, statuses = SETTLEMENT_STATUSES } = filters;
  const { source_profile_id: source, target_profile_id: target } = filters;
  const parameters = createParameters();
  const caller = parameters.add(customerId);
  const found = await selectList<StoredSettlement, FilterName>(database, page, {
    table: 'settlement_transactions',
    alias: 't',
    columns: `distinct on (t.page_ns, t.id) ${COLUMNS}`,
    owner: 't.customer_id as "customerId", t.target_customer_id as "targetCustomerId"',
    parameters,
    own: `${caller} in (t.customer_id, t.target_customer_id)`,
    filters: filtersOf(caller),
    wanted: {
      ...filters,
      source_profile_ids: oneOrSeveral(source, undefined),
      target_profile_ids: oneOrSeveral(target, undefined),
    },
    by: ids === undefined && refIds === undefined ? 'statuses' : undefined,
    branches: () => branchesOf(caller, statuses, parameters),
  });
  return { ...found, rows: found.rows.map(fromStored) };
}
