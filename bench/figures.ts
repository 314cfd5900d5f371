// What is measured, and how the figures of several rounds become one.

export const PROFILES = 2_000;
export const ROUNDS = 3;
/** Of each measurement: run, but not counted. The same for both sides. */
export const WARM_UP_SECONDS = 1;
export const MEASURED_SECONDS = 2;

/** How many profiles are debited: all, or one. The credited profile is always a random other one. */
export type Workload = { readonly name: 'spread' | 'one account'; readonly debtors: number };
export const SPREAD: Workload = { name: 'spread', debtors: PROFILES };
export const HOT: Workload = { name: 'one account', debtors: 1 };

export type Figures = {
  readonly perSecond: number;
  /** CPU time per posting of node or pgbench, and of PostgreSQL. NaN where the system does not tell. */
  readonly clientCpuUs: number;
  readonly serverCpuUs: number;
  /** Postings that share a commit. */
  readonly batchSize: number;
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Each figure by itself: a round disturbed by something else on the machine drops out. */
export function medians<Round extends Readonly<Record<string, number>>>(rounds: readonly Round[]): Round {
  const names = Object.keys(rounds[0]!);
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round[name]!))]),
  ) as Round;
}

export function integer(value: number): string {
  return Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US');
}

/** Columns as wide as their widest cell; the first two are text, the others numbers. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number): string =>
    column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
