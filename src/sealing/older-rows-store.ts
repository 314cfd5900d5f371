import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { textArray } from '../database/array.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { sealJson } from './columns.ts';

/** False if another node is sealing. The lock ends with the transaction. */
export async function lockOlderRows(tx: Transaction): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    ADVISORY_LOCKS.olderRows,
  ]);
  return row!.locked;
}

export type Progress = { readonly name: string; readonly afterKey: string };

/** The tables that are not finished. */
export function openProgress(tx: Queryable): Promise<Progress[]> {
  return tx.query<Progress>(
    'select name, after_key as "afterKey" from sealing_progress where not finished order by name',
  );
}

/** Without a key, the table is finished. */
export async function recordProgress(
  tx: Transaction,
  name: string,
  lastKey: string | undefined,
): Promise<void> {
  await tx.query(
    'update sealing_progress set after_key = coalesce($2, after_key), finished = $2 is null where name = $1',
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
