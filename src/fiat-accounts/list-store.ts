import type { Queryable } from '../database/database.ts';
import { branchOf, selectList, type Wanted } from '../database/list.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import { FIAT_ACCOUNT_SPACE, FIAT_ACCOUNT_STATUSES, type FiatAccount } from './fiat-account.ts';
import { COLUMNS, opened } from './store.ts';

const FILTERS = {
  ids: { column: 'f.id', type: 'uuid', few: true },
  ref_ids: { column: 'f.id', type: 'uuid', few: true },
  identity_ids: { column: 'f.identity_id', type: 'uuid' },
  account_ids: { column: 'f.account_id', type: 'uuid' },
  customer_ids: { column: 'f.customer_id', type: 'uuid' },
  statuses: { column: 'f.status', type: 'text', all: FIAT_ACCOUNT_STATUSES },
} as const;
type FilterName = keyof typeof FILTERS;

const SOURCE = {
  table: 'fiat_accounts',
  alias: 'f',
  columns: COLUMNS,
  owner: 'f.customer_id as "customerId"',
  filters: FILTERS,
} as const;
const NOT_DELETED = 'f.deleted_at_ns is null';
const DELETED = 'f.deleted_at_ns is not null';

export type FiatAccountFilters = Wanted<Exclude<FilterName, 'customer_ids'>> & {
  readonly identity_id?: string | undefined;
  readonly include_deleted?: boolean | undefined;
};

async function openedPage(
  database: Queryable,
  found: Promise<Found<FiatAccount>>,
): Promise<Found<FiatAccount>> {
  const page = await found;
  return { ...page, rows: page.rows.map((row) => opened(database.vault(), row)) };
}

/** One page of that customer's accounts. Deleted ones have indexes of their own, which are merged with those of the others. */
export async function listFiatAccounts(
  database: Queryable,
  customerId: string,
  { identity_id: identityId, include_deleted: includeDeleted = false, ...filters }: FiatAccountFilters,
  page: Page,
): Promise<Found<FiatAccount>> {
  const { ref_ids: refIds } = filters;
  const parameters = createParameters();
  const own = `f.customer_id = ${parameters.add(customerId)}`;
  const wanted: Wanted<FilterName> = {
    ...filters,
    ref_ids: refIds && (await resourcesByRefId(database, customerId, FIAT_ACCOUNT_SPACE, refIds)),
    identity_ids: oneOrSeveral(identityId, filters.identity_ids),
  };
  const states = includeDeleted ? [NOT_DELETED, DELETED] : [NOT_DELETED];
  const list = {
    ...SOURCE,
    parameters,
    own: includeDeleted ? own : `${own} and ${NOT_DELETED}`,
    wanted,
    branches: (by: FilterName | undefined) =>
      states.map((state) =>
        branchOf(`${own} and ${state}`, FILTERS[by ?? 'statuses'], wanted[by ?? 'statuses']),
      ),
  };
  return openedPage(database, selectList<FiatAccount, FilterName>(database, page, list));
}

/** One page of the accounts of all customers, for operators. */
export function listForReview(
  database: Queryable,
  filters: Wanted<'ids' | 'customer_ids'> & { readonly statuses: readonly string[] },
  page: Page,
): Promise<Found<FiatAccount>> {
  const { customer_ids: customerIds, statuses } = filters;
  const parameters = createParameters();
  if (filters.ids !== undefined || customerIds === undefined) {
    const list = { ...SOURCE, parameters, own: NOT_DELETED, wanted: filters };
    return openedPage(database, selectList<FiatAccount, FilterName>(database, page, list));
  }
  const branches = [...new Set(statuses)].map((status) => ({
    where: `f.customer_id = one.value and f.status = ${parameters.add(status)} and ${NOT_DELETED}`,
    each: { type: 'uuid', values: customerIds } as const,
  }));
  const list = { ...SOURCE, parameters, branches, filters: [] };
  return openedPage(database, selectPage<FiatAccount>(database, page, list));
}
