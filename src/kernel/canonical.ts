/**
 * The canonical text of a value: JSON with the keys sorted at every level, and absent fields left out. Two values are
 * equivalent if and only if their texts are equal.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(isScalar(value) ? value : sorted(value));
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (isScalar(value)) return value;
  const pairs = Object.entries(value as object).filter(([, one]) => one !== undefined);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(pairs.map(([key, one]) => [key, sorted(one)]));
}
