/**
 * Array parameters as PostgreSQL's text literals. Statements of the write path carry hundreds of rows as a dozen
 * arrays; building the literals here costs a fraction of the driver's generic serializer.
 */

/** For uuids, numbers and other values that never need quoting. */
export function plainArray(values: readonly (string | number | bigint | null)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    const value = values[index];
    text += value === null ? 'NULL' : value;
  }
  return `${text}}`;
}

const NEEDS_ESCAPE = /["\\]/g;

/** For any text. Always quoted, so that `NULL`, commas, braces and blanks stay what they are. */
export function textArray(values: readonly (string | null | undefined)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    const value = values[index];
    text += value === null || value === undefined ? 'NULL' : `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`;
  }
  return `${text}}`;
}
