/** What became of a generator. */
export type Outcome = {
  readonly name: string;
  readonly version: string;
  readonly durationMs: number;
  /** Programs that it needs and that are not on the PATH: it was not run. */
  readonly missing: readonly string[];
  readonly failure?: string | undefined;
};

const stateOf = ({ missing, failure }: Outcome): string => {
  if (missing.length > 0) return 'not run';
  return failure === undefined ? 'ok' : 'FAILED';
};

function noteOf({ missing, failure }: Outcome): string {
  if (missing.length > 0) return `not on the PATH: ${missing.join(', ')}`;
  return failure === undefined
    ? 'generated, compiled, made a transfer, read the list'
    : failure.split('\n', 1)[0]!.slice(0, 100);
}

/** The last thing that the command prints: a line for each generator, and one that counts them. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const rows = [
    ['generator', 'version', 'result', 'seconds', ''],
    ...outcomes.map((outcome) => [
      outcome.name,
      outcome.version,
      stateOf(outcome),
      outcome.missing.length > 0 ? '-' : (outcome.durationMs / 1_000).toFixed(1),
      noteOf(outcome),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const count = (state: string): number => outcomes.filter((outcome) => stateOf(outcome) === state).length;
  return `${lines.join('\n')}\n\n${count('ok')} ok, ${count('FAILED')} failed, ${count('not run')} not run`;
}

/** A generator that could not be run is no failure; running none at all is. */
export const isSuccess = (outcomes: readonly Outcome[]): boolean =>
  outcomes.length > 0 && outcomes.every(({ failure }) => failure === undefined);
