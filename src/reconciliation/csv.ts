import type { Assets } from '../kernel/asset.ts';
import { parseInstant } from '../kernel/instant.ts';
import { invalidField } from '../kernel/problem.ts';
import type { Line, ReadStatement } from './item.ts';

const COLUMNS = ['at', 'asset', 'direction', 'amount', 'reference'] as const;

const wrong = (message: string) => invalidField('/content', message);

/** The cells of one line of RFC 4180. Line breaks inside of cells are not accepted. */
function cellsOf(line: string, number: number): string[] {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(line);
    if (match === null) throw wrong(`line ${number} is not valid CSV`);
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === '') return cells;
  }
}

function lineOf(cells: readonly string[], number: number, assets: Assets): Line & { readonly asset: string } {
  if (cells.length !== COLUMNS.length)
    throw wrong(`line ${number} must have ${COLUMNS.length} cells, not ${cells.length}`);
  const [at, asset, direction, amount, reference] = cells as [string, string, string, string, string];
  const atNs = parseInstant(at) ?? parseInstant(`${at}T00:00:00Z`);
  if (atNs === undefined) throw wrong(`line ${number} must have a time or a date, not "${at}"`);
  if (assets.find(asset) === undefined) throw wrong(`line ${number} has an unknown asset "${asset}"`);
  if (direction !== 'CREDIT' && direction !== 'DEBIT')
    throw wrong(`line ${number} must be CREDIT or DEBIT, not "${direction}"`);
  const parsed = assets.parse(asset, amount);
  if (!parsed.ok) throw wrong(`the amount of line ${number} ${parsed.message}`);
  const units = direction === 'CREDIT' ? parsed.units : -parsed.units;
  return { asset, atNs, units, references: reference === '' ? [] : [reference] };
}

/** CSV with the columns of `COLUMNS`. */
export function readCsv(content: string, assets: Assets): ReadStatement {
  const text = content.startsWith('\ufeff') ? content.slice(1) : content;
  const [header = '', ...rows] = text.split(/\r\n|\n/);
  if (header !== COLUMNS.join(',')) throw wrong(`must begin with the line ${COLUMNS.join(',')}`);
  if (rows.at(-1) === '') rows.pop();
  const lines = rows.map((row, index) => lineOf(cellsOf(row, index + 2), index + 2, assets));
  const names = [...new Set(lines.map(({ asset }) => asset))];
  if (names.length > 1) throw wrong(`must have one asset, not ${names.join(' and ')}`);
  return { statementId: undefined, asset: names[0], lines };
}
