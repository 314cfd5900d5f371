import type { Queryable } from '../database/database.ts';
import { selectList, type Wanted } from '../database/list.ts';
import { type Branch, createParameters, type Parameters } from '../database/select.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import { TRANSFER_COLUMNS } from './store.ts';
import {
  INSIDE_TYPES,
  sideIds,
  TRANSFER_SPACE,
  TRANSFER_STATUSES,
  TRANSFER_TYPES,
  type Transfer,
} from './transfer.ts';

const FILTERS = {
  ids: { column: 't.id', type: 'uuid', few: true },
  ref_ids: { column: 't.id', type: 'uuid', few: true },
  /** The sides of the requested groups: their ids follow from the id of the group. */
  sides: { column: 't.id', type: 'uuid', few: true },
  crypto_tx_hashes: { column: 't.crypto_tx_hash', type: 'text', few: true },
  account_ids: { column: 't.account_id', type: 'uuid' },
  identity_ids: { column: 't.identity_id', type: 'uuid' },
  profile_ids: { column: 't.profile_id', type: 'uuid' },
  group_ids: { column: 't.group_id', type: 'uuid' },
  type: { column: 't.type', type: 'text' },
  statuses: { column: 't.status', type: 'text' },
  // No index serves these two, which would cost every transfer: a page scans a bounded number of transfers.
  assets: { column: 't.asset', type: 'text' },
  secondary_statuses: { column: "(t.secondary_status ->> 'name')", type: 'text' },
} as const;
type FilterName = keyof typeof FILTERS;
type Filters = Wanted<Exclude<FilterName, 'sides'>>;
export type TransferFilters = Filters & { readonly identity_id?: string | undefined };

const INSIDE = 't.group_id is not null';
const OUTSIDE = 't.group_id is null';

/** Transfers inside the service are always COMPLETED, and wait for nothing. */
const hasInside = ({ statuses, secondary_statuses: waits }: Filters): boolean =>
  waits === undefined && (statuses?.includes('COMPLETED') ?? true);

/** Filters that find few transfers, or have an index of their own. */
const FINDERS = [
  'ids',
  'ref_ids',
  'sides',
  'crypto_tx_hashes',
  'account_ids',
  'identity_ids',
  'profile_ids',
  'group_ids',
] as const;

/** Pending and failed transfers are few, even of a type that has many transfers. */
function byKind(wanted: Wanted<FilterName>): FilterName | undefined {
  const { type, statuses } = wanted;
  if (FINDERS.some((name) => wanted[name] !== undefined)) return undefined;
  // Without a filter that an index serves, all transfers are scanned in order.
  if (type === undefined) return 'statuses';
  return statuses !== undefined && !hasInside(wanted) ? 'statuses' : undefined;
}

/** Transfers of profiles, accounts or identities. */
function branchesOfParty(
  own: string,
  column: string,
  values: readonly string[],
  withInside: boolean,
): Branch[] {
  const each = { type: 'uuid', values } as const;
  const branch = (side: string): Branch => ({ where: `${own} and ${side} and ${column} = one.value`, each });
  return [...(withInside ? [{ ...branch(INSIDE), neverChanges: true }] : []), branch(OUTSIDE)];
}

/**
 * Transfers inside the service have an index for each type: one index with the type in its key would cost each of them
 * 2 µs more, and one without the type could not find a rare type. All others have an index by type and one by status.
 */
function lanesOfKind(
  own: string,
  by: FilterName | undefined,
  wanted: Filters,
  parameters: Parameters,
): Branch[] {
  const { type: types = TRANSFER_TYPES, statuses = TRANSFER_STATUSES } = wanted;
  const inside = INSIDE_TYPES.filter((type) => hasInside(wanted) && types.includes(type));
  const outside = types.filter((type) => !INSIDE_TYPES.some((one) => one === type));
  const branches: Branch[] = inside.map((type) => ({
    where: `${own} and t.type = '${type}'`,
    neverChanges: true,
  }));
  if (outside.length === 0) return branches;
  if (by === 'type') {
    const each = { type: 'text', values: outside } as const;
    return [...branches, { where: `${own} and ${OUTSIDE} and t.type = one.value`, each }];
  }
  // A branch for each status, not one branch for all: this is the list without a filter, and merging reads each row once.
  const status = (one: string): string => `t.status = ${parameters.add(one)}`;
  return [
    ...branches,
    ...[...new Set(statuses)].map((one) => ({ where: `${own} and ${OUTSIDE} and ${status(one)}` })),
  ];
}

/** One page of that customer's transfers. */
export async function listTransfers(
  database: Queryable,
  customerId: string,
  filters: TransferFilters,
  page: Page,
): Promise<Found<Transfer>> {
  const { ref_ids: refIds, group_ids: groupIds, identity_id: identityId, ...others } = filters;
  const wanted: Wanted<FilterName> = {
    ...others,
    identity_ids: oneOrSeveral(identityId, filters.identity_ids),
    group_ids: groupIds,
    ref_ids: refIds && (await resourcesByRefId(database, customerId, TRANSFER_SPACE, refIds)),
    sides: groupIds?.flatMap(sideIds),
  };
  const parameters = createParameters();
  const own = `t.customer_id = ${parameters.add(customerId)}`;
  return selectList<Transfer, FilterName>(database, page, {
    table: 'transfers',
    alias: 't',
    columns: TRANSFER_COLUMNS,
    owner: 't.customer_id as "customerId"',
    parameters,
    own,
    filters: FILTERS,
    wanted,
    by: byKind(wanted),
    branches: (by) =>
      by === undefined || by === 'type' || by === 'statuses'
        ? lanesOfKind(own, by, wanted, parameters)
        : branchesOfParty(own, FILTERS[by].column, wanted[by]!, hasInside(wanted)),
  });
}
