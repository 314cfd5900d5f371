import type { Balance } from '~/customer/data.ts';
import { addAmounts, compareAmounts, formatAmount, parseAmount, subtractAmount } from '~/lib/money.ts';

/** What can be spent; undefined while it is not known, and 0 if the profile never had the asset. */
export const availableOf = (balances: readonly Balance[] | undefined, asset: string): string | undefined =>
  balances === undefined ? undefined : (balances.find((one) => one.asset === asset)?.available ?? '0');

export function overdraft(
  amount: string,
  fee: string,
  available: string | undefined,
  asset: string,
): string | undefined {
  if (available === undefined || parseAmount(amount) === undefined) return undefined;
  const total = addAmounts(amount, fee);
  if (compareAmounts(total, available) <= 0) return undefined;
  const missing = formatAmount(subtractAmount(total, available));
  return fee === '0'
    ? `${missing} ${asset} more than available.`
    : `With the fee of ${formatAmount(fee)}, ${missing} ${asset} more than available.`;
}

/** `amount` excludes the fee, `total` includes it: one of them is given, and the other follows. */
export function split(
  given: string,
  includesFee: boolean,
  fee: string,
): { readonly amount: string; readonly total: string } {
  const value = parseAmount(given) === undefined ? '0' : given;
  return includesFee
    ? { amount: subtractAmount(value, fee), total: value }
    : { amount: value, total: addAmounts(value, fee) };
}
