import type { Found, Page } from '../kernel/paging.ts';
import type { Queryable } from './database.ts';
import { type Branch, type Condition, type Parameters, type Source, selectPage } from './select.ts';

/** A filter of a list: its column, and how its rows are found. */
export type Filter = {
  readonly column: string;
  readonly type: 'uuid' | 'text';
  /** Each value has only a few rows, across all customers. Otherwise an index has the rows of each value in order. */
  readonly few?: boolean;
  /** All possible values: a request without any filter looks up each of them. */
  readonly all?: readonly string[];
  /** The condition, if it is not simply that the column has one of the values. */
  readonly where?: (parameters: Parameters, values: readonly string[]) => string;
};

/** The filters of a list, in order of preference: the first one that a request has finds the rows. */
export type Filters<Name extends string> = { readonly [name in Name]: Filter };
export type Wanted<Name extends string> = { readonly [name in Name]?: readonly string[] | undefined };

export type FilteredList<Name extends string> = Source & {
  readonly parameters: Parameters;
  /** The condition for all rows that the caller may see. Its columns come first in the indexes. */
  readonly own: string;
  readonly filters: Filters<Name>;
  readonly wanted: Wanted<Name>;
  /** The filter that finds the rows, if it is not the first one of the request. */
  readonly by?: Name | undefined;
  /** For lists that need more than one index. */
  readonly branches?: (by: Name | undefined) => readonly Branch[];
};

/** One page of a list with filters. One filter finds the rows by its index; the others are applied to those rows. */
export function selectList<Row extends object, Name extends string>(
  database: Queryable,
  page: Page,
  list: FilteredList<Name>,
): Promise<Found<Row>> {
  const { filters, wanted, own, parameters } = list;
  const names = Object.keys(filters) as Name[];
  const given = names.filter((name) => wanted[name] !== undefined);
  const by = list.by ?? given[0] ?? names.find((name) => filters[name].all !== undefined);
  const condition =
    (name: Name): Condition =>
    (here) => {
      const { column, type, where } = filters[name];
      return where?.(here, wanted[name]!) ?? here.anyOf(column, type, wanted[name]!);
    };
  const others = given.filter((name) => name !== by).map(condition);
  if (by !== undefined && filters[by].few === true) {
    const branches = [{ where: condition(by)(parameters), few: true }];
    return selectPage<Row>(database, page, { ...list, branches, filters: [() => own, ...others] });
  }
  const branches = list.branches?.(by) ?? [
    by === undefined ? { where: own } : branchOf(own, filters[by], wanted[by]),
  ];
  return selectPage<Row>(database, page, { ...list, branches, filters: others });
}

/** The rows of the caller with each of the values, in the order of an index. */
export function branchOf(
  own: string,
  { column, type, all }: Filter,
  wanted: readonly string[] | undefined,
): Branch {
  return { where: `${own} and ${column} = one.value`, each: { type, values: wanted ?? all! } };
}
