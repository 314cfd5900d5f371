import { formatAmount, parseAmount } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';

/** What one whole unit of an asset is worth, in 10^-18 USD. A feed or a table; undefined when it does not know. */
export type PriceSource = { find(asset: string): bigint | undefined };

const PRICE_DECIMALS = 18;

/** For the sandbox only: in production an old price would be a false statement, so there is none until one is set. */
export const SANDBOX_PRICES: Readonly<Record<string, string>> = {
  BTC: '65000',
  BCH: '450',
  LTC: '85',
  ETH: '3200',
  SOL: '150',
  POL: '0.55',
  USDC: '1',
  PUSD: '1',
};

/** Throws with one clause that names the entry which is wrong. */
export function createPriceTable(prices: Readonly<Record<string, string>>): PriceSource {
  const table = new Map<string, bigint>();
  for (const [asset, text] of Object.entries(prices)) {
    const parsed = parseAmount(text, PRICE_DECIMALS);
    if (!parsed.ok) throw new Error(`prices.${asset} ${parsed.message}`);
    table.set(asset, parsed.units);
  }
  return { find: (asset) => table.get(asset) };
}

function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice < denominator || (twice === denominator && quotient % 2n === 0n)) return quotient;
  return quotient + 1n;
}

/** USD, rounded half-even to two decimals; undefined without a price. */
export function notionalValue(
  price: bigint | undefined,
  assets: Assets,
  asset: string,
  units: bigint,
): string | undefined {
  if (price === undefined) return undefined;
  const scale = 10n ** BigInt(assets.get(asset).decimals + PRICE_DECIMALS);
  return formatAmount(divideHalfEven(units * price * 100n, scale), 2);
}
