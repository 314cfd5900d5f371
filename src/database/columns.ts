import { plainArray, textArray } from './array.ts';

/** The SQL types whose element type fits a property of that TypeScript type. JSON travels as text. */
type SqlType<Value> = Value extends string
  ? 'uuid' | 'text'
  : Value extends number
    ? 'integer' | 'bigint'
    : Value extends bigint
      ? 'bigint' | 'numeric'
      : Value extends boolean
        ? 'boolean'
        : Value extends object
          ? 'json'
          : never;

/**
 * Property name → SQL type, in the order of the statement's parameters. A function in place of the type computes the
 * text of the column from the whole row.
 */
export type Columns<Row> = {
  readonly [Name in keyof Row]?: SqlType<NonNullable<Row[Name]>> | ((row: Row) => string | null | undefined);
};

type Plain = string | number | bigint | boolean | null | undefined;
type Column<Row> =
  | 'uuid'
  | 'text'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'boolean'
  | 'json'
  | ((row: Row) => string | null | undefined);

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function column<Row>(rows: readonly Row[], name: keyof Row, kind: Column<Row>): string {
  if (typeof kind === 'function') return textArray(rows.map(kind));
  const values = rows.map((row) => row[name]);
  if (kind === 'text') return textArray(values as (string | null | undefined)[]);
  if (kind === 'json') return textArray(values.map(json));
  return plainArray(values as Plain[]);
}

/**
 * The array parameters of a set-wise statement, one per column, for `unnest($1::uuid[], $2::text[], …)`. A missing value
 * is NULL. For batches of hundreds of rows use `binaryColumns`, which the server does not have to parse.
 */
export function columns<Row extends object>(rows: readonly Row[], spec: Columns<Row>): string[] {
  const names = Object.keys(spec) as (keyof Row)[];
  return names.map((name) => column(rows, name, spec[name] as Column<Row>));
}
