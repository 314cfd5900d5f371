import { formatAmount, parseAmount } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';

/** The price of one whole unit of an asset, in 10^-18 USD; undefined when it is not known. */
export type PriceSource = { find(asset: string): bigint | undefined };

const PRICE_DECIMALS = 18;

/** For the sandbox only. Production has no prices until they are configured, because an old price would be wrong. */
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

/** Throws an error that names the wrong entry. */
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
