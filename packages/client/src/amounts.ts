/**
 * Amounts are decimal strings. JavaScript numbers cannot hold them: calculate with integers of the smallest unit of the asset.
 */
const AMOUNT = /^([0-9]*)(?:\.([0-9]+))?$/;

/** `toUnits('25.50', 2)` is `2550n`. Throws if the text is not an amount or has more decimals than the asset. */
export function toUnits(amount: string, decimals: number): bigint {
  const match = AMOUNT.exec(amount);
  const whole = match?.[1] ?? '';
  const fraction = match?.[2] ?? '';
  if (match === null || whole + fraction === '') throw new RangeError(`"${amount}" is not an amount`);
  if (fraction.length > decimals) throw new RangeError(`${amount} has more than ${decimals} decimals`);
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** `fromUnits(2550n, 2)` is `'25.5'`, as the service writes it. */
export function fromUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
