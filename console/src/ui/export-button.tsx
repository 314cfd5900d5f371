import { useState } from 'react';
import { csvLine, download } from '~/lib/csv.ts';
import { counted } from '~/lib/words.ts';
import { Button } from './button.tsx';
import { toast } from './toast.tsx';

/** A file of more would not open in a spreadsheet. */
const ROWS_MAX = 1_000_000;

/** Reads the whole list, with the filters that count now, and saves it as CSV: amounts and times as the service has sent them. */
export function ExportButton<Row extends object>({
  name,
  fields,
  read,
}: {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly fields: readonly (keyof Row & string)[];
  readonly read: () => AsyncIterable<Row>;
}) {
  const [rows, setRows] = useState<number>();
  async function save(): Promise<void> {
    const lines = [csvLine(fields)];
    setRows(0);
    try {
      for await (const row of read()) {
        lines.push(
          csvLine(fields.map((field) => (row[field] === undefined ? undefined : textOf(row[field])))),
        );
        if (lines.length % 1_000 === 0) setRows(lines.length);
        if (lines.length > ROWS_MAX) break;
      }
      download(`${name}.csv`, 'text/csv;charset=utf-8', lines);
      toast(`Exported ${counted(lines.length - 1, 'row')}.`);
    } catch (error) {
      toast(`The export failed: ${error instanceof Error ? error.message : String(error)}`, 'bad');
    } finally {
      setRows(undefined);
    }
  }
  return (
    <Button icon="download" busy={rows !== undefined} onClick={() => void save()}>
      {rows === undefined ? 'Export CSV' : counted(rows, 'row')}
    </Button>
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
