import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { presentCause } from './causes.ts';
import { type Movement, type Position, type Statement, totalOf } from './statement.ts';

export function presentPosition(position: Position, asset: string, assets: Assets) {
  const { available, held } = position;
  const format = (units: bigint): string => assets.format(asset, units);
  return { total: format(totalOf(position)), available: format(available), held: format(held) };
}

export const directionOf = (units: bigint): 'CREDIT' | 'DEBIT' => (units > 0n ? 'CREDIT' : 'DEBIT');
export const sizeOf = (units: bigint): bigint => (units < 0n ? -units : units);

function movementText({ atNs, units, totalAfter, cause }: Movement, asset: string, assets: Assets): string {
  return JSON.stringify({
    at: formatInstant(atNs),
    direction: directionOf(units),
    amount: assets.format(asset, sizeOf(units)),
    balance_after: assets.format(asset, totalAfter),
    cause: presentCause(cause),
  });
}

/** One JSON object, in pieces. */
export async function* jsonTexts(
  statement: Statement,
  movements: AsyncIterable<readonly Movement[]>,
  assets: Assets,
): AsyncGenerator<string> {
  const { profileId, asset, from, to, opening, closing } = statement;
  const head = JSON.stringify({
    profile_id: profileId,
    asset,
    from: formatInstant(from),
    to: formatInstant(to),
    opening: presentPosition(opening, asset, assets),
    closing: presentPosition(closing, asset, assets),
  });
  yield `${head.slice(0, -1)},"movements":[`;
  let comma = '';
  for await (const some of movements) {
    if (some.length === 0) continue;
    yield comma + some.map((one) => movementText(one, asset, assets)).join(',');
    comma = ',';
  }
  yield ']}';
}
