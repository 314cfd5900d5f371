/** Decimal numbers in answers of nodes, which may be written with an exponent: `1e-05`. */

export function unitsOf(decimal: unknown, decimals: number): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(String(decimal));
  if (match === null) return undefined;
  const [, whole, fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${whole}${fraction}`);
  const shift = decimals - fraction.length + Number(exponent);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}
