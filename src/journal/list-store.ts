import { plainArray, textArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import {
  type Branch,
  type Condition,
  createParameters,
  type Parameters,
  selectPage,
} from '../database/select.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import { JOURNAL_SPACE } from './command.ts';
import type { JournalEntry } from './entry.ts';
import type { JournalQuery } from './schema.ts';
import { COLUMNS, fromStored, type StoredEntry } from './store.ts';

type Filters = Pick<JournalQuery, 'ids' | 'ref_ids' | 'profile_ids' | 'kinds' | 'assets'>;

const anyId =
  (ids: readonly string[]): Condition =>
  (parameters) =>
    parameters.anyOf('j.id', 'uuid', ids);

/** Conditions that find few entries each, by an index; those of a profile are few, even if it is busy. */
async function fewOf(database: Queryable, customerId: string, filters: Filters): Promise<Condition[]> {
  const { ids, ref_ids: refIds, profile_ids: profileIds } = filters;
  return [
    ...(ids ? [anyId(ids)] : []),
    ...(refIds ? [anyId(await resourcesByRefId(database, customerId, JOURNAL_SPACE, refIds))] : []),
    ...(profileIds
      ? [(here: Parameters) => `j.profile_ids && ${here.add(plainArray(profileIds))}::uuid[]`]
      : []),
  ];
}

/** One page of the journal. Without another filter, entries of an asset are found in the order of time. */
export async function listEntries(
  database: Queryable,
  customerId: string,
  filters: Filters,
  page: Page,
): Promise<Found<JournalEntry>> {
  const { kinds, assets } = filters;
  const parameters = createParameters();
  const [first, ...others] = await fewOf(database, customerId, filters);
  const conditions: Condition[] = [
    ...others,
    ...(assets ? [(here: Parameters) => `j.assets && ${here.add(textArray(assets))}::text[]`] : []),
    ...(kinds && first ? [(here: Parameters) => here.anyOf('j.kind', 'text', kinds)] : []),
  ];
  const branch: Branch = first
    ? { where: first(parameters), few: true }
    : kinds
      ? { where: 'j.kind = one.value', each: { type: 'text', values: kinds } }
      : { where: 'true' };
  const found = await selectPage<StoredEntry>(database, page, {
    table: 'journal_entries',
    alias: 'j',
    columns: COLUMNS,
    parameters,
    branches: [branch],
    filters: conditions,
  });
  return { ...found, rows: found.rows.map(fromStored) };
}
