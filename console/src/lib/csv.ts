/** A leading =, +, -, @ makes a spreadsheet run the text as a formula; amounts are numbers and stay as they are. */
function cellOf(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-?[0-9]+(\.[0-9]+)?$/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (values: readonly (string | undefined)[]): string =>
  `${values.map((value) => cellOf(value ?? '')).join(',')}\r\n`;

export function download(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
