// The figures as a file for programs, and as a table for people.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  formatTable,
  integer,
  MEASURED_SECONDS,
  median,
  medians,
  PROFILES,
  WARM_UP_SECONDS,
} from '../figures.ts';
import type { Machine } from '../machine.ts';
import { BULK, type Comparison } from './comparison.ts';
import type { Measurement } from './measure.ts';
import type { Operations } from './operations.ts';
import { round, type Summary } from './targets.ts';
import type { Extent } from './variants.ts';

/** What is under version control; trials write elsewhere. */
const COMMITTED = '../results';
const TRIAL = '../out/results';

export function resultPath(isTrial: boolean, extension: 'json' | 'svg'): string {
  return fileURLToPath(new URL(`${isTrial ? TRIAL : COMMITTED}.${extension}`, import.meta.url));
}

export function writeResult(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Adds parts to the file, in place of those of the same name: growth and soak are runs of their own. */
export function writeResults(path: string, parts: object): void {
  let before: object = {};
  try {
    before = JSON.parse(readFileSync(path, 'utf8')) as object;
  } catch {
    // There is none yet.
  }
  const text = JSON.stringify({ ...before, ...parts }, null, 2);
  // A list of numbers is a line, not a column.
  const compact = text.replaceAll(
    /\[\s+([-0-9.,\s]+?)\s+\]/g,
    (_, list: string) => `[${list.replaceAll(/\s+/g, ' ')}]`,
  );
  writeResult(path, `${compact}\n`);
}

/** What a client of the service sees, and what it costs. */
export function figuresOf(rounds: readonly Measurement[]) {
  const measured = medians(
    rounds.map(({ perSecond, p50Ms, p99Ms, p999Ms, serviceCpuUs, serverCpuUs }) => ({
      perSecond,
      p50Ms,
      p99Ms,
      p999Ms,
      serviceCpuUs,
      serverCpuUs,
    })),
  );
  return {
    per_second: round(measured.perSecond, 0),
    p50_ms: round(measured.p50Ms, 2),
    p99_ms: round(measured.p99Ms, 2),
    p999_ms: round(measured.p999Ms, 2),
    service_cpu_us: round(measured.serviceCpuUs, 1),
    postgresql_cpu_us: round(measured.serverCpuUs, 1),
    memory_mb: round(Math.max(...rounds.map(({ memoryMb }) => memoryMb)), 0),
    rounds: rounds.map(({ perSecond }) => round(perSecond, 0)),
  };
}

/** Whether the machine kept its pace while requests arrived at a rate. */
export function paceFigures(rounds: readonly Measurement[]) {
  const paces = rounds.flatMap(({ pace }) => pace ?? []);
  return {
    machine_slow_share: round(median(paces.map(({ slowShare }) => slowShare)), 3),
    p99_ms_at_full_pace: round(median(paces.map(({ p99Ms }) => p99Ms)), 2),
  };
}

export function printPace({
  machine_slow_share: share,
  p99_ms_at_full_pace: p99,
}: ReturnType<typeof paceFigures>): void {
  const percent = (share * 100).toFixed(1);
  console.log(
    `While transfers arrived at that rate, the machine ran at less than half of its pace for ${percent}% of the ` +
      `time. Outside of that, and of as long again for the queue, p99 is ${p99.toFixed(1)} ms.`,
  );
}

export type Run = {
  readonly machine: Machine;
  readonly extent: Extent;
  readonly comparison: Comparison;
  readonly operations: Operations;
  readonly summary: Summary;
  readonly memoryAtRestMb: number;
  readonly othersShare: number;
};

export function resultsOf(run: Run) {
  const { comparison, operations, extent } = run;
  const { ratePerSecond, rounds } = comparison.halfPeak;
  return {
    machine: run.machine,
    date: new Date().toISOString(),
    settings: {
      fsync: 'on',
      synchronous_commit: 'on',
      profiles: PROFILES,
      warm_up_seconds: WARM_UP_SECONDS,
      measured_seconds: MEASURED_SECONDS,
      rounds_of_all: extent.surveyRounds,
      more_rounds_of_the_best: extent.decidingRounds,
      share_of_other_processes: round(run.othersShare, 3),
    },
    summary: run.summary,
    transfers: comparison.ferry.map(({ workload, concurrency, rounds: measured }) => ({
      workload,
      connections: concurrency,
      ...figuresOf(measured),
    })),
    bulks: {
      transfers: BULK.size,
      connections: BULK.connections,
      ...figuresOf(comparison.bulk.map(({ measured }) => measured)),
    },
    at_half_peak: { arriving_per_second: ratePerSecond, ...figuresOf(rounds), ...paceFigures(rounds) },
    naive: comparison.naive.map(({ workload, concurrency, rounds: measured }) => ({
      workload,
      clients: concurrency,
      per_second: round(medians(measured).perSecond, 0),
      pgbench_cpu_us: round(medians(measured).clientCpuUs, 1),
      postgresql_cpu_us: round(medians(measured).serverCpuUs, 1),
      rounds: measured.map(({ perSecond }) => round(perSecond, 0)),
    })),
    operations: [
      ...operations.all.map(({ name, connections, measured }) => ({
        name,
        connections,
        ...figuresOf([measured]),
      })),
      { name: 'settlement settled', per_second: round(operations.settledPerSecond, 0) },
    ],
    memory: { at_rest_mb: round(run.memoryAtRestMb, 0), under_load_mb: run.summary.memory_mb },
  };
}

type Row = ReturnType<typeof figuresOf>;

/** A title, under what load, and the figures. */
export function formatRows(rows: readonly (readonly [string, string, Row])[]): string {
  const head = [
    '',
    '',
    'a second',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'service µs',
    'PostgreSQL µs',
    'service MB',
  ];
  const cells = rows.map(([title, who, row]) => [
    title,
    who,
    integer(row.per_second),
    row.p50_ms.toFixed(1),
    row.p99_ms.toFixed(1),
    row.p999_ms.toFixed(1),
    integer(row.service_cpu_us),
    integer(row.postgresql_cpu_us),
    integer(row.memory_mb),
  ]);
  return formatTable([head, ...cells]);
}

export function onConnections(count: number): string {
  return `${count} connection${count === 1 ? '' : 's'}`;
}

export function printResults(results: ReturnType<typeof resultsOf>): void {
  const { transfers, bulks, naive, operations, memory, at_half_peak: half } = results;
  const measured = operations.filter((one) => 'connections' in one);
  const settled = operations.find((one) => one.name === 'settlement settled');
  console.log(
    `\n${formatRows([
      ...transfers.map((one) => [one.workload, onConnections(one.connections), one] as const),
      [`spread, bulks of ${bulks.transfers}`, onConnections(bulks.connections), bulks],
      ['spread, half of the peak', `${integer(half.arriving_per_second)} arriving`, half],
      ...measured.map((one) => [one.name, onConnections(one.connections), one] as const),
    ])}\n`,
  );
  printPace(half);
  const rows = naive.map((one) => [
    `naive SQL, ${one.workload}`,
    `${one.clients} clients`,
    integer(one.per_second),
    integer(one.pgbench_cpu_us),
    integer(one.postgresql_cpu_us),
  ]);
  console.log(`${formatTable([['', '', 'a second', 'pgbench µs', 'PostgreSQL µs'], ...rows])}\n`);
  console.log(
    `Settlements settled: ${integer(settled!.per_second)} a second. ` +
      `Memory of the service: ${memory.at_rest_mb} MB at rest, ${memory.under_load_mb} MB under load.\n`,
  );
}
