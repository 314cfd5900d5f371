import { textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { sealJson } from './columns.ts';

export type Progress = { readonly name: string; readonly afterKey: string };

/** A table that no other node is sealing, for the time of the lease; undefined if there is none. */
export async function claimTable(
  database: Queryable,
  names: readonly string[],
  leaseMs: number,
): Promise<Progress | undefined> {
  const [progress] = await database.query<Progress>(
    `update sealing_progress set leased_until_ns = ${CLOCK_NS} + $2::bigint * 1000000
     where name = (select name from sealing_progress
                   where not finished and name = any ($1::text[]) and leased_until_ns < ${CLOCK_NS}
                   order by name limit 1 for update skip locked)
     returning name, after_key as "afterKey"`,
    [textArray(names), leaseMs],
  );
  return progress;
}

export async function isAllSealed(database: Queryable, names: readonly string[]): Promise<boolean> {
  const open = await database.query(
    'select from sealing_progress where not finished and name = any ($1::text[]) limit 1',
    [textArray(names)],
  );
  return open.length === 0;
}

/** Ends the lease. Without a key, the table is finished. */
export async function recordProgress(
  database: Queryable,
  name: string,
  lastKey: string | undefined,
): Promise<void> {
  await database.query(
    `update sealing_progress set after_key = coalesce($2, after_key), finished = $2 is null, leased_until_ns = 0
     where name = $1`,
    [name, lastKey ?? null],
  );
}

/** Columns of type jsonb that stores seal, and the key of the table. */
type JsonColumns = {
  readonly table: string;
  readonly key: { readonly name: string; readonly type: 'uuid' | 'text' };
  readonly columns: readonly string[];
};

const START = { uuid: '00000000-0000-0000-0000-000000000000', text: '' } as const;

type Walked = {
  readonly last: string | null;
  readonly plain: readonly PlainRow[];
};
/** A column is an object, or null, or a string that is sealed already. */
type PlainRow = Readonly<Record<string, object | string | null>>;

/**
 * The rows of a table whose jsonb columns are still objects. Their stores seal every column for the place
 * `<table>.<column>:<key>`. A row that changes meanwhile is written sealed, and keeps what was written.
 */
export function olderJson(database: Database, { table, key, columns: names }: JsonColumns): OlderRows {
  const isPlain = (row: string): string =>
    names.map((name) => `jsonb_typeof(${row}.${name}) = 'object'`).join(' or ');
  const walk = `with walked as materialized (
       select ${key.name} as key, ${names.join(', ')} from ${table}
       where ${key.name} > $1::${key.type} order by ${key.name} limit $2)
     select (select key::text from walked order by key desc limit 1) as last,
            (select coalesce(json_agg(walked), '[]') from walked where ${isPlain('walked')}) as plain`;
  const values = names.map((_, index) => `$${index + 2}::text[]`).join(', ');
  const sealed = names.map((name) => `${name} = coalesce(row.${name}::jsonb, t.${name})`).join(', ');
  const update = `update ${table} t set ${sealed}
     from unnest($1::${key.type}[], ${values}) as row (key, ${names.join(', ')})
     where t.${key.name} = row.key and (${isPlain('t')})`;
  return {
    table,
    async sealNext(after, rowsMax) {
      const [walked] = await database.query<Walked>(walk, [after === '' ? START[key.type] : after, rowsMax]);
      const { last, plain } = walked!;
      const sealedText = (row: PlainRow, name: string): string | null => {
        const value = row[name];
        const place = `${table}.${name}:${row.key as string}`;
        return typeof value === 'object' ? sealJson(database.vault(), value, place) : null;
      };
      if (plain.length > 0) {
        const keys = textArray(plain.map((row) => row.key as string));
        const texts = names.map((name) => textArray(plain.map((row) => sealedText(row, name))));
        await database.query(update, [keys, ...texts]);
      }
      return last ?? undefined;
    },
  };
}
