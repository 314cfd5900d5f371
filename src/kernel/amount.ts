/**
 * Amounts. In the API they are decimal strings, inside the service integers in the asset's smallest unit.
 * A JavaScript number never holds an amount: 2^53 wei are only 0.009 ETH.
 */

/** 20 integer digits and 18 decimals: what `numeric(38,0)` holds. */
export const INTEGER_DIGITS_MAX = 20;
export const DECIMALS_MAX = 18;
export const UNITS_MAX = 10n ** 38n - 1n;

export type AmountFault = 'shape' | 'zero' | 'precision' | 'size';
export type ParsedAmount = { ok: true; units: bigint } | { ok: false; fault: AmountFault; message: string };

const DECIMAL = /^([0-9]*)(?:\.([0-9]+))?$/;
/** A longer text is refused without matching it. */
const TEXT_LENGTH_MAX = 256;

function refuse(fault: AmountFault, message: string): ParsedAmount {
  return { ok: false, fault, message };
}

/** Reads a decimal string for an asset with that many decimals. Refuses anything else. */
export function parseAmount(text: unknown, decimals: number): ParsedAmount {
  if (typeof text !== 'string') return refuse('shape', 'must be a decimal string, such as "25" or "0.5"');
  const match = text.length <= TEXT_LENGTH_MAX ? DECIMAL.exec(text) : null;
  if (match === null || (match[1] === '' && match[2] === undefined)) {
    return refuse('shape', 'must be digits with an optional fraction, without sign, exponent or spaces');
  }
  const integer = match[1] ?? '';
  const fraction = match[2] ?? '';
  if (integer.length > INTEGER_DIGITS_MAX) {
    return refuse('size', `must have at most ${INTEGER_DIGITS_MAX} digits before the point`);
  }
  if (fraction.length > decimals) {
    return refuse('precision', `has ${fraction.length} decimals, at most ${decimals} are allowed`);
  }
  const units = BigInt(integer + fraction.padEnd(decimals, '0') || '0');
  if (units === 0n) return refuse('zero', 'must be greater than zero');
  return { ok: true, units };
}

/** The canonical text of an amount: no trailing zeros, `0` for zero. Signs appear only in audits. */
export function formatAmount(units: bigint, decimals: number): string {
  if (units < 0n) return `-${formatAmount(-units, decimals)}`;
  if (decimals === 0) return units.toString();
  const digits = units.toString().padStart(decimals + 1, '0');
  const integer = digits.slice(0, -decimals);
  let end = digits.length;
  while (end > integer.length && digits.charCodeAt(end - 1) === 48) end -= 1;
  return end === integer.length ? integer : `${integer}.${digits.slice(integer.length, end)}`;
}
