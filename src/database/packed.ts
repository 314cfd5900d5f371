import { isId } from '../kernel/id.ts';
import { plainArray, textArray } from './array.ts';
import { appendTo, type BinaryColumn, type BinaryValue } from './binary.ts';
import { byShard, PLACES, type Shards } from './shards.ts';

/** Rows of a table that belong to one shard, as the one row that is sent to its server; see migrations 0043 and 0044. */
export type Packed = {
  /** An id of a shard on that server. */
  readonly key: string;
  /** The id of the shard of balances with the same range. */
  readonly shard: bigint;
  readonly target: string;
  readonly names: string;
  readonly columns: readonly string[];
};

/** As strict as the binary form: what is sent here is parsed as text, which PostgreSQL would round or truncate without a word. */
const isText = (value: BinaryValue): boolean => typeof value === 'string';
const isWhole = (value: BinaryValue): boolean => typeof value === 'bigint';
const isSmall = (value: BinaryValue): boolean => Number.isInteger(value);
const FITS: Readonly<Record<string, (value: BinaryValue) => boolean>> = {
  uuid: isId,
  text: isText,
  jsonb: isText,
  numeric: isWhole,
  bigint: isWhole,
  integer: isSmall,
  smallint: isSmall,
};

/** The values of a column as an array literal. Throws for a value that the column cannot have. */
function literalOf<Row>({ name, type, value }: BinaryColumn<Row>, rows: readonly Row[]): string {
  const values = rows.map((row) => value(row) as BinaryValue);
  const fits = FITS[type];
  for (const one of values)
    if (one !== null && one !== undefined && fits?.(one) !== true)
      throw new TypeError(`${String(one)} is no ${type} for ${name}`);
  return type === 'text' || type === 'jsonb' ? textArray(values as (string | null)[]) : plainArray(values);
}

/** Packs rows of a table. The first column is the one that it is distributed by. */
export function packer<Row>(
  target: string,
  columns: readonly BinaryColumn<Row>[],
): (shards: Shards, rows: readonly Row[]) => Packed[] {
  const key = (row: Row): string => columns[0]!.value(row) as string;
  const names = columns.map(({ name }) => name).join(',');
  return (shards, rows) =>
    byShard(shards, rows, key).map((some) => {
      const first = key(some[0]!);
      const { id, homeId = first } = shards.all[shards.indexOf(first)]!;
      return {
        key: homeId,
        shard: id,
        target,
        names,
        columns: columns.map((column) => literalOf(column, some)),
      };
    });
}

/** The transaction has to confirm that the shards are still where they were: `areInPlace`. */
export const sendPacked = appendTo<Packed>('packed_rows', [
  { name: 'shard_key', type: 'uuid', value: ({ key }) => key },
  { name: 'target', type: 'text', value: (one) => one.target },
  { name: 'names', type: 'text', value: (one) => one.names },
  { name: 'columns', type: 'text[]', value: (one) => one.columns },
  { name: 'shard', type: 'bigint', value: ({ shard }) => shard },
]);

/** Asked after the packed rows were sent: from then on, moves and splits of shards wait for the commit. Needs READ COMMITTED. */
export const areInPlace = (places: string): string => `(${PLACES}) = ${places}`;
