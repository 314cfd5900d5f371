import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

type Watched = { readonly backlog: Backlog; readonly gauges: ReadonlyMap<string, Gauge> };

/** Omits a metric that could not be read; reporting 0 would be wrong. */
function forget({ backlog, gauges }: Watched): void {
  for (const gauge of gauges.values()) {
    if (backlog.labels === undefined) gauge.set(Number.NaN);
    else gauge.reset();
  }
}

async function read({ backlog, gauges }: Watched): Promise<void> {
  const rows = await backlog.read();
  for (const [name, gauge] of gauges) {
    if (backlog.labels !== undefined) gauge.reset();
    for (const row of rows) {
      const labels = Object.fromEntries((backlog.labels ?? []).map((label) => [label, String(row[label])]));
      gauge.set(labels, Number(row[name]));
    }
  }
}

/** Rails of the same kind report the same gauges, each with rows of its own: they are one backlog. */
function joined(backlogs: readonly Backlog[]): Backlog[] {
  const same = Map.groupBy(backlogs, ({ gauges }) => Object.keys(gauges).join());
  return [...same.values()].map((parts) => ({
    ...parts[0]!,
    async read() {
      const rows: Awaited<ReturnType<Backlog['read']>>[number][] = [];
      for (const part of parts) rows.push(...(await part.read()));
      return rows;
    },
  }));
}

/**
 * A gauge for each backlog, read from the database when metrics are requested, at most once a second. While the database
 * is unavailable the answer is a little later, and these gauges are missing from it.
 */
export function registerBacklogs(
  registry: Registry,
  backlogs: readonly Backlog[],
  failed: (error: unknown) => void,
): void {
  let reading: Promise<void> | undefined;
  let readMs = Number.NEGATIVE_INFINITY;

  async function readAll(): Promise<void> {
    for (const one of all) {
      try {
        await read(one);
      } catch (error) {
        forget(one);
        failed(error);
      }
    }
    readMs = performance.now();
    reading = undefined;
  }

  async function collect(): Promise<void> {
    if (reading === undefined && performance.now() - readMs < LIMITS.backlogReadIntervalMs) return;
    reading ??= readAll();
    const late = sleep(LIMITS.backlogReadMs, 'late', { ref: false });
    if ((await Promise.race([reading, late])) === 'late') for (const one of all) forget(one);
  }

  const all = joined(backlogs).map((backlog): Watched => {
    const labelNames = [...(backlog.labels ?? [])];
    const gauges = Object.entries(backlog.gauges).map(
      ([name, help]) =>
        [name, new Gauge({ name, help, labelNames, registers: [registry], collect })] as const,
    );
    return { backlog, gauges: new Map(gauges) };
  });
}
