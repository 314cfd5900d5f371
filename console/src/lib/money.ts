/** Amounts are decimal strings of any length. They are compared and added as integers, and never become a number. */
export type Units = { readonly units: bigint; readonly decimals: number };

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

export function parseAmount(amount: string): Units | undefined {
  const match = DECIMAL.exec(amount);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length };
}

const scaled = ({ units, decimals }: Units, to: number): bigint => units * 10n ** BigInt(to - decimals);

function formatUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Throws for a text that is not an amount: the service sends none. */
function read(amount: string): Units {
  const parsed = parseAmount(amount);
  if (parsed === undefined) throw new TypeError(`${amount} is not an amount`);
  return parsed;
}

export function addAmounts(...amounts: string[]): string {
  const parsed = amounts.map(read);
  const decimals = Math.max(0, ...parsed.map((one) => one.decimals));
  return formatUnits(
    parsed.reduce((sum, one) => sum + scaled(one, decimals), 0n),
    decimals,
  );
}

export const negated = (amount: string): string => {
  const { units, decimals } = read(amount);
  return formatUnits(-units, decimals);
};

export const subtractAmount = (from: string, amount: string): string => addAmounts(from, negated(amount));

/** Negative, zero or positive. */
export function compareAmounts(left: string, right: string): number {
  const { units } = read(subtractAmount(left, right));
  return units === 0n ? 0 : units < 0n ? -1 : 1;
}

/** The part of a whole between 0 and 1, for pictures only. */
export function ratioOf(part: string, whole: string): number {
  const [one, all] = [read(part), read(whole)];
  const decimals = Math.max(one.decimals, all.decimals);
  const total = scaled(all, decimals);
  return total === 0n ? 0 : Number((scaled(one, decimals) * 1_000_000n) / total) / 1_000_000;
}

/** Thousands apart by a comma, and the fraction as it is: `1234567.5` becomes `1,234,567` and `5`. */
export function partsOf(amount: string): { readonly whole: string; readonly fraction: string } {
  const [whole = '', fraction = ''] = amount.split('.');
  return { whole: whole.replaceAll(/\B(?=([0-9]{3})+$)/g, ','), fraction };
}

export function formatAmount(amount: string): string {
  const { whole, fraction } = partsOf(amount);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The longest fraction, so that the decimal points of a column stand below each other. */
export const fractionOf = (amounts: readonly string[]): number =>
  amounts.reduce((longest, amount) => Math.max(longest, partsOf(amount).fraction.length), 0);
