import type { Found, Page, Place } from '../kernel/paging.ts';
import { stretchOf } from '../kernel/stretch.ts';
import { LIMITS } from '../limits.ts';
import { plainArray, textArray } from './array.ts';
import type { Parameter, Queryable, Statement } from './database.ts';

/**
 * Lists whose pages cost only the rows that they show, however large the table and whatever the filter.
 *
 * A list is merged from branches. A branch is a condition for which an index has the rows in the order of the page. The server
 * merges the branches while it reads them, so a page costs its own rows and one index lookup per branch. Filters that the
 * index of a branch does not cover are applied afterwards: the page then scans a bounded number of rows, and is short if
 * few of them match.
 */
export type Branch = {
  readonly where: string;
  /** The condition refers to `one.value`, which is each of these in turn: an index has the rows of each value in order. */
  readonly each?: { readonly type: 'uuid' | 'text'; readonly values: readonly string[] };
  /** Its rows never change: updated_at equals created_at, so an index by created_at serves both orders. */
  readonly neverChanges?: boolean;
  /** An index finds all its rows, which are few enough to be sorted. */
  readonly few?: boolean;
};

export type Source = {
  readonly table: string;
  readonly alias: string;
  readonly columns: string;
  /** The columns that say whose a row is, in a list that customers read (`own-rows.ts`). */
  readonly owner?: string;
  /** Joins that are made only for the rows of the page. */
  readonly join?: string;
};

export type List = Source & {
  readonly parameters: Parameters;
  readonly branches: readonly Branch[];
  /** Filters that the branches do not cover. */
  readonly filters: readonly Condition[];
};

/** A function, because a statement must not have parameters that it does not use: the server could not infer their type. */
export type Condition = (parameters: Parameters) => string;

/** The values of a statement. Its text refers to them as `$1` and so on, and never contains a value. */
export type Parameters = {
  readonly values: readonly Parameter[];
  add(value: Parameter): string;
  anyOf(column: string, type: 'uuid' | 'text', values: readonly string[]): string;
};

export function createParameters(given: readonly Parameter[] = []): Parameters {
  const values = [...given];
  const add = (value: Parameter): string => `$${values.push(value)}`;
  return {
    values,
    add,
    anyOf: (column, type, wanted) => `${column} = any (${add(arrayOf(type, wanted))}::${type}[])`,
  };
}

function arrayOf(type: 'uuid' | 'text', values: readonly string[]): string {
  return type === 'uuid' ? plainArray(values) : textArray(values);
}

/** The condition that rows are in the stretch. The text is the same for every page, so there are few statements to prepare. */
function within(page: Page, neverChanges: boolean, end: Place | undefined, parameters: Parameters) {
  const { low, high } = stretchOf(page, neverChanges, end);
  const place = ({ ns, id }: Place): string => `(${parameters.add(ns)}::bigint, ${parameters.add(id)}::uuid)`;
  // The start is exclusive: it is the last row of the previous page. The end is inclusive.
  const from = `${page.descending ? '>=' : '>'} ${place(low)}`;
  const to = `${page.descending ? '<' : '<='} ${place(high)}`;
  return (key: string): string => `${key} ${from} and ${key} ${to}`;
}

/**
 * Hides a limit from the planner. A planner that knows the limit, and estimates that a value has fewer rows than that,
 * reads and sorts them all: 9,102 rows instead of 101 for a profile with a hundred times the average.
 */
function hidden(limit: string): string {
  return `(select ${limit}::bigint)`;
}

/** No limit, but the planner does not know that: filters that are applied afterwards must not affect the choice of index. */
const NO_LIMIT = hidden('null');

/** A statement with hidden limits. Citus has no subqueries there: it passes the limits on to its servers. */
export function withHiddenLimits(plain: string, distributed = (): string => plain): Statement {
  return {
    plain,
    get distributed() {
      return distributed()
        .replaceAll(`limit ${NO_LIMIT}`, '')
        .replaceAll(/(limit|offset) \(select (\$\d+)::bigint\)/g, '$1 $2::bigint');
    },
  };
}

/** Statements are made in two forms, with the same parameters. */
type Form = { readonly parameters: Parameters; readonly isDistributed: boolean };

function inBothForms(
  list: List,
  make: (form: Form) => string,
): { readonly statement: Statement; readonly values: readonly Parameter[] } {
  const formed = (isDistributed: boolean): { text: string; values: readonly Parameter[] } => {
    const parameters = createParameters(list.parameters.values);
    return { text: make({ parameters, isDistributed }), values: parameters.values };
  };
  const { text, values } = formed(false);
  return { statement: withHiddenLimits(text, () => formed(true).text), values };
}

/** All branches, merged. Each is bounded by the limit or by `end`, or has few rows. */
function merged(list: List, page: Page, form: Form, limit: string, end?: Place): string {
  const { parameters, isDistributed } = form;
  const { alias, table, branches } = list;
  const order = page.descending ? 'desc' : 'asc';
  const ended = (ns: string, id: string): string => `order by ${ns} ${order}, ${id} ${order} limit ${limit}`;
  const changing = branches.some((branch) => !branch.neverChanges)
    ? within(page, false, end, parameters)
    : undefined;
  const unchanging = branches.some((branch) => branch.neverChanges)
    ? within(page, true, end, parameters)
    : undefined;
  const rowsOf = ({ where, each, neverChanges, few }: Branch): string => {
    const ns = `${alias}.${neverChanges ? 'created_at' : page.orderBy}_ns`;
    const here = (neverChanges ? unchanging : changing)!(`(${ns}, ${alias}.id)`);
    const select = `select ${alias}.*, ${ns} as page_ns from`;
    // `offset 0` is an optimization fence: without it the planner might walk the customer's whole history in order.
    if (few)
      return `${select} (select * from ${table} ${alias} where ${where} offset 0) ${alias} where ${here}`;
    const rowsWhere = (condition: string): string =>
      `${select} ${table} ${alias} where ${condition} and ${here} ${ended(ns, `${alias}.id`)}`;
    if (each === undefined) return rowsWhere(where);
    const values = parameters.add(arrayOf(each.type, [...new Set(each.values)]));
    // Each server of a cluster has some rows of most values.
    if (isDistributed) return rowsWhere(where.replaceAll('one.value', `any (${values}::${each.type}[])`));
    const rows = rowsWhere(where);
    const all = `select ${alias}.* from unnest(${values}::${each.type}[]) as one (value)
      cross join lateral (${rows}) ${alias}`;
    return limit === NO_LIMIT ? all : `${all} ${ended('page_ns', 'id')}`;
  };
  return branches.map((branch) => `(${rowsOf(branch)})`).join(' union all ');
}

function inOrder({ alias }: Source, { descending }: Page): string {
  const order = descending ? 'desc' : 'asc';
  return `order by ${alias}.page_ns ${order}, ${alias}.id ${order}`;
}

function selectRows<Row extends object>(
  database: Queryable,
  list: List,
  page: Page,
  end?: Place,
): Promise<Row[]> {
  const { columns, alias, join = '', filters } = list;
  const { statement, values } = inBothForms(list, (form) => {
    const { parameters } = form;
    const limit = hidden(parameters.add(page.limit + 1));
    const rows = merged(list, page, form, filters.length === 0 ? limit : NO_LIMIT, end);
    return `select ${columns} from (${rows}) ${alias} ${join}
     where ${['true', ...filters.map((one) => one(parameters))].join(' and ')} ${inOrder(list, page)} limit ${limit}`;
  });
  return database.query<Row>(statement, values);
}

/** The place of the row `count` rows ahead, whether it matches the filters or not; undefined if there are fewer. */
async function placeAfter(
  database: Queryable,
  list: List,
  page: Page,
  count: number,
): Promise<Place | undefined> {
  const { alias, owner } = list;
  const shown = [`${alias}.page_ns as ns`, `${alias}.id`, ...(owner === undefined ? [] : [owner])];
  const { statement, values } = inBothForms(list, (form) => {
    const limit = hidden(form.parameters.add(count));
    return `select ${shown.join(', ')} from (${merged(list, page, form, limit)}) ${alias}
     ${inOrder(list, page)} offset ${limit} - 1 limit 1`;
  });
  const [place] = await database.query<Place>(statement, values);
  return place;
}

/** Scans in growing steps: a filter that most rows match reads few rows, one that few match needs few statements. */
async function search<Row extends object>(database: Queryable, list: List, page: Page): Promise<Found<Row>> {
  const rows: Row[] = [];
  let after = page.after;
  // With several values, a step reads that many rows of each value to find out which come first.
  const valuesMax = Math.max(...list.branches.map((branch) => branch.each?.values.length ?? 1));
  let left = Math.ceil(LIMITS.listScanMax / valuesMax);
  for (let size = page.limit * 4; ; size *= 4) {
    const step = Math.min(size, left);
    const rest = { ...page, after, limit: page.limit - rows.length };
    // The end is fixed first, so that rows inserted in the meantime are found by this step or by the next one.
    const end = await placeAfter(database, list, rest, step);
    rows.push(...(await selectRows<Row>(database, list, rest, end)));
    left -= step;
    if (end === undefined || rows.length > page.limit) return { rows };
    if (left === 0) return { rows, brokenOffAt: end };
    after = end;
  }
}

/** One page, plus one row, which shows whether there is a next page. */
export async function selectPage<Row extends object>(
  database: Queryable,
  page: Page,
  given: List,
): Promise<Found<Row>> {
  const { alias, branches } = given;
  if (branches.length === 0) return { rows: [] };
  const otherTimes = page.ranges
    .filter(({ column }) => column !== page.orderBy && branches.some((branch) => !branch.neverChanges))
    .map(
      ({ column, operator, ns }): Condition =>
        (parameters) =>
          `${alias}.${column}_ns ${operator} ${parameters.add(ns)}`,
    );
  const list = { ...given, filters: [...given.filters, ...otherTimes] };
  if (list.filters.length > 0 && !branches.every((branch) => branch.few))
    return search<Row>(database, list, page);
  return { rows: await selectRows<Row>(database, list, page) };
}
