// The profiles that both sides of a comparison move value between, and their funds.
import { createAssets } from '../src/kernel/asset.ts';
import type { WritePath } from '../src/ledger/write-path.ts';
import { DEFAULT_ASSETS } from '../src/networks/default-assets.ts';
import { openingBalance } from '../test/support/funding.ts';

export const assets = createAssets(DEFAULT_ASSETS);

/** More than any run can debit from one account. */
const FUNDS_UNITS = 10n ** 12n;

/** The same ids on both sides: the number in the last digits, as the scripts of pgbench make them. */
export function profileIds(count: number, first = 1): string[] {
  return Array.from({ length: count }, (_, index) =>
    String(first + index)
      .padStart(32, '0')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  );
}

export async function fund(writePath: WritePath, ids: readonly string[], asset: string): Promise<void> {
  await Promise.all(ids.map((profileId) => writePath.submit(openingBalance(profileId, asset, FUNDS_UNITS))));
}
