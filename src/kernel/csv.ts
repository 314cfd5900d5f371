/**
 * A spreadsheet takes a cell that begins with one of these for a formula, even in text that a customer wrote: an apostrophe before it makes
 * it a text.
 */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line of RFC 4180, with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
