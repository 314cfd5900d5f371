import { plainArray, textArray } from './array.ts';
import { appendTo, type BinaryColumn, type BinaryValue } from './binary.ts';
import { byShard, type Shards } from './shards.ts';

/** Rows of a table that belong to one shard, as the one row that is sent to it; see migration 0043. */
export type Packed = {
  /** An id of the shard. */
  readonly key: string;
  readonly target: string;
  readonly names: string;
  readonly columns: readonly string[];
};

/** Values that an array literal has without quotes: whole numbers and ids. */
const PLAIN = /^(-?[0-9]+|[0-9a-f-]{36})$/;

/** The values of a column as an array literal. Throws for a value that the column cannot have. */
function literalOf<Row>({ name, type, value }: BinaryColumn<Row>, rows: readonly Row[]): string {
  const values = rows.map((row) => value(row) as BinaryValue);
  if (type === 'text' || type === 'jsonb') return textArray(values as (string | null | undefined)[]);
  for (const one of values)
    if (typeof one === 'string' && !PLAIN.test(one)) throw new TypeError(`${one} is no ${type} for ${name}`);
  return plainArray(values);
}

/** Packs rows of a table. The first column is the one that it is distributed by. */
export function packer<Row>(
  target: string,
  columns: readonly BinaryColumn<Row>[],
): (shards: Shards, rows: readonly Row[]) => Packed[] {
  const key = (row: Row): string => columns[0]!.value(row) as string;
  const names = columns.map(({ name }) => name).join(',');
  return (shards, rows) =>
    byShard(shards, rows, key).map((some) => ({
      key: key(some[0]!),
      target,
      names,
      columns: columns.map((column) => literalOf(column, some)),
    }));
}

export const sendPacked = appendTo<Packed>('packed_rows', [
  { name: 'shard_key', type: 'uuid', value: (one) => one.key },
  { name: 'target', type: 'text', value: (one) => one.target },
  { name: 'names', type: 'text', value: (one) => one.names },
  { name: 'columns', type: 'text[]', value: (one) => one.columns },
]);
