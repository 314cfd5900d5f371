import type { Asset } from '../kernel/asset.ts';

/** Amounts of ISO 20022: up to 18 digits, of which 5 after the point. All digits of the asset, as people at banks expect it. */
const DIGITS_MAX = 18;

export function decimalOf(units: bigint, { code, decimals }: Pick<Asset, 'code' | 'decimals'>): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  if (units < 0n || digits.length > DIGITS_MAX)
    throw new Error(`ISO 20022 cannot express ${units} units of ${code}`);
  const integer = digits.slice(0, digits.length - decimals);
  return decimals === 0 ? integer : `${integer}.${digits.slice(-decimals)}`;
}

const DECIMAL = /^([0-9]{1,18})(?:\.([0-9]{0,17}))?$/;

/** Zero is an amount, too. Undefined if the text is no decimal, or has more decimals than the asset. */
export function unitsOf(text: string, { decimals }: Pick<Asset, 'decimals'>): bigint | undefined {
  const [, integer, fraction = ''] = DECIMAL.exec(text.trim()) ?? [];
  if (integer === undefined) return undefined;
  const significant = fraction.replace(/0+$/, '');
  if (significant.length > decimals) return undefined;
  return BigInt(integer + significant.padEnd(decimals, '0'));
}
