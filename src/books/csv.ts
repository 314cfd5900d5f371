import type { Assets } from '../kernel/asset.ts';
import { csvLine } from '../kernel/csv.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { directionOf, sizeOf } from './json.ts';
import { type Movement, type Position, type Statement, totalOf } from './statement.ts';

export const CSV_COLUMNS = [
  'record',
  'at',
  'asset',
  'direction',
  'amount',
  'balance',
  'cause_type',
  'cause_kind',
  'cause_id',
  'ref_id',
  'note',
] as const;

/** The first line has the names of the columns; then come the opening balance, the movements and the closing balance. */
export async function* csvTexts(
  statement: Statement,
  movements: AsyncIterable<readonly Movement[]>,
  assets: Assets,
): AsyncGenerator<string> {
  const { asset, from, to, opening, closing } = statement;
  const format = (units: bigint): string => assets.format(asset, units);
  const balance = (record: string, at: Instant, position: Position): string =>
    csvLine([record, formatInstant(at), asset, '', '', format(totalOf(position)), '', '', '', '', '']);
  const movement = ({ atNs, units, totalAfter, cause }: Movement): string =>
    csvLine([
      'MOVEMENT',
      formatInstant(atNs),
      asset,
      directionOf(units),
      format(sizeOf(units)),
      format(totalAfter),
      cause.type,
      cause.kind ?? '',
      cause.id,
      cause.refId ?? '',
      cause.note ?? '',
    ]);
  yield csvLine(CSV_COLUMNS) + balance('OPENING', from, opening);
  for await (const some of movements) if (some.length > 0) yield some.map(movement).join('');
  yield balance('CLOSING', to, closing);
}
