import type { TProperties, TSchema } from 'typebox';
import { LIMITS } from '../limits.ts';
import { isId } from './id.ts';
import { INSTANT_MAX, type Instant, parseComparable } from './instant.ts';
import { type FieldError, invalidField, invalidRequest } from './problem.ts';
import { closed, DateTime } from './shapes.ts';
import { SLICES } from './slices.ts';
import { Type } from './type.ts';

/** Lists use keyset pagination, never offsets, so pages stay correct while rows are inserted. */
const OPERATORS = ['lt', 'lte', 'eq', 'gte', 'gt'] as const;
const SQL_OPERATOR = { lt: '<', lte: '<=', eq: '=', gte: '>=', gt: '>' } as const;

/** The error for a text that is not a time. */
export const NOT_A_TIME = 'must be an RFC 3339 time, such as 2026-01-15T09:30:00Z';

export type TimeColumn = 'created_at' | 'updated_at';

/** The position of a row in a list: its time, and its id, or another key, among rows of the same time. */
export type Place = { readonly ns: Instant; readonly id: string };

export type Page = {
  readonly limit: number;
  readonly descending: boolean;
  readonly orderBy: TimeColumn;
  /** Where the previous page ended. */
  readonly after: Place | undefined;
  readonly ranges: readonly {
    readonly column: TimeColumn;
    readonly operator: string;
    readonly ns: Instant;
  }[];
};

/** With the name of the list: a cursor is valid only for the list that it came from. */
export type NamedPage = Page & { readonly list: string };

/** A filter that takes several values: the parameter is repeated. */
export const Several = <Item extends TSchema>(item: Item, description: string) =>
  Type.Optional(
    Type.Array(item, {
      minItems: 1,
      maxItems: LIMITS.filterValuesMax,
      description: `${description} (repeatable)`,
    }),
  );

/** A filter that takes one value. Together with the filter that takes several, both have to match. */
export const One = <Item extends TSchema>(item: Item, description: string) =>
  Type.Optional({ ...item, description });

/** The values of a filter that has a form for one value and a form for several. */
export function oneOrSeveral(
  one: string | undefined,
  several: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined) return several;
  return several === undefined || several.includes(one) ? [one] : [];
}

function rangeShapes(column: TimeColumn): TProperties {
  return Object.fromEntries(
    OPERATORS.map((operator) => [`${column}.${operator}`, Type.Optional(DateTime(`${column} ${operator}`))]),
  );
}

/** The query of a list: its own filters, and the parameters that all lists have. */
export function listQuery<Filters extends TProperties>(filters: Filters, columns: readonly TimeColumn[]) {
  return Type.Object(
    {
      ...filters,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: LIMITS.pageLimitMax,
          description: `Default ${LIMITS.pageLimitDefault}`,
        }),
      ),
      order: Type.Optional(Type.Enum(['ASC', 'DESC'], { description: 'Default DESC' })),
      ...(columns.includes('updated_at')
        ? {
            order_by: Type.Optional(
              Type.Enum(['CREATED_AT', 'UPDATED_AT'], { description: 'Default CREATED_AT' }),
            ),
          }
        : {}),
      page_cursor: Type.Optional(
        Type.String({ maxLength: 200, description: 'next_page_cursor of the previous page' }),
      ),
      ...Object.assign({}, ...columns.map(rangeShapes)),
    } as Filters,
    closed,
  );
}

export function listShape<Item extends TSchema>(item: Item, title: string) {
  return Type.Object(
    {
      items: Type.Array(item),
      next_page_cursor: Type.Optional(
        Type.String({
          description:
            'Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor',
        }),
      ),
    },
    { ...closed, title },
  );
}

type IsKey = (text: string | undefined) => text is string;

function readCursor(text: string, page: Omit<NamedPage, 'after'>, isKey: IsKey): Place {
  const { list, orderBy, descending } = page;
  const bad = invalidField(
    '/query/page_cursor',
    'must be a next_page_cursor of this list with the same order',
  );
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  // The decoder ignores invalid characters, so compare with the encoding.
  if (Buffer.from(plain).toString('base64url') !== text) throw bad;
  const parts = plain.split(' ');
  const [name, column, order, ns, id] = parts;
  if (parts.length !== 5 || name !== list || column !== orderBy || order !== (descending ? 'DESC' : 'ASC'))
    throw bad;
  if (!/^-?[0-9]{1,19}$/.test(ns ?? '') || !isKey(id)) throw bad;
  const instant = BigInt(ns!);
  if (instant > INSTANT_MAX || instant < -INSTANT_MAX) throw bad;
  return { ns: instant, id };
}

function writeCursor(page: NamedPage, { ns, id }: Place): string {
  const order = page.descending ? 'DESC' : 'ASC';
  return Buffer.from(`${page.list} ${page.orderBy} ${order} ${ns} ${id}`).toString('base64url');
}

/**
 * Reads the parameters that all lists have. Their shape has been validated; times and the cursor are checked here. `isKey`
 * is for lists whose rows have no id.
 */
export function readPage(query: object, list: string, isKey: IsKey = isId): NamedPage {
  const values = query as Readonly<Record<string, unknown>>;
  const descending = values.order !== 'ASC';
  const orderBy: TimeColumn = values.order_by === 'UPDATED_AT' ? 'updated_at' : 'created_at';
  const errors: FieldError[] = [];
  const ranges: Page['ranges'][number][] = [];
  for (const column of ['created_at', 'updated_at'] as const) {
    for (const operator of OPERATORS) {
      const text = values[`${column}.${operator}`];
      if (text === undefined) continue;
      const ns = parseComparable(text);
      if (ns === undefined) errors.push({ pointer: `/query/${column}.${operator}`, message: NOT_A_TIME });
      else ranges.push({ column, operator: SQL_OPERATOR[operator], ns });
    }
  }
  if (errors.length > 0) throw invalidRequest(errors);
  const limit = (values.limit as number | undefined) ?? LIMITS.pageLimitDefault;
  const page = { list, limit, descending, orderBy, ranges };
  const { page_cursor: cursor } = values;
  return { ...page, after: typeof cursor === 'string' ? readCursor(cursor, page, isKey) : undefined };
}

type Row = { readonly id: string; readonly createdAtNs: Instant; readonly updatedAtNs?: Instant };

export type Found<Item> = {
  /** The rows of the page, and one more if there is a next page. */
  readonly rows: readonly Item[];
  /** Where the scan stopped at its limit, because few of the rows matched. */
  readonly brokenOffAt?: Place;
};

function nextCursor<Item extends Row>(
  { rows, brokenOffAt }: Found<Item>,
  page: NamedPage,
): string | undefined {
  const last = rows[page.limit - 1];
  const placeOf = ({ id, createdAtNs, updatedAtNs }: Row): Place => ({
    ns: page.orderBy === 'updated_at' ? updatedAtNs! : createdAtNs,
    id,
  });
  const next = rows.length > page.limit ? placeOf(last!) : brokenOffAt;
  return next === undefined ? undefined : writeCursor(page, next);
}

/** The texts of many rows, joined. In slices: a long page would occupy the thread for 10 ms. */
export async function joinedTexts<Item>(
  rows: readonly Item[],
  text: (row: Item) => string,
  count = rows.length,
): Promise<string> {
  let texts = '';
  for (let index = 0; index < Math.min(count, rows.length); index += 1) {
    if (index > 0 && index % LIMITS.sliceRows === 0) await SLICES.next();
    texts += index === 0 ? text(rows[index]!) : `,${text(rows[index]!)}`;
  }
  return texts;
}

/**
 * A page as JSON text, of items that are JSON already. If the scan stopped at its limit, the page may be short or empty although
 * it is not the last one.
 */
export async function pageText<Item extends Row>(
  found: Found<Item>,
  page: NamedPage,
  text: (row: Item) => string,
): Promise<string> {
  const items = await joinedTexts(found.rows, text, page.limit);
  const cursor = nextCursor(found, page);
  return `{"items":[${items}]${cursor === undefined ? '' : `,"next_page_cursor":"${cursor}"`}}`;
}

/** The same of items that are values. */
export function pageOf<Item extends Row>(
  found: Found<Item>,
  page: NamedPage,
  present: (row: Item) => unknown,
): Promise<string> {
  return pageText(found, page, (row) => JSON.stringify(present(row)));
}
