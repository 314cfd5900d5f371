import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Backlog } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';

type Told = { readonly backlog: Backlog; readonly gauges: ReadonlyMap<string, Gauge> };

/** What is not known is not told, and above all not as 0: that would be a claim. */
function forget({ backlog, gauges }: Told): void {
  for (const gauge of gauges.values()) {
    if (backlog.label === undefined) gauge.set(Number.NaN);
    else gauge.reset();
  }
}

async function read(database: Queryable, told: Told): Promise<void> {
  const { backlog, gauges } = told;
  const rows = await backlog.read(database);
  for (const [name, gauge] of gauges) {
    if (backlog.label !== undefined) gauge.reset();
    for (const row of rows) {
      const labels = backlog.label === undefined ? {} : { [backlog.label]: String(row[backlog.label]) };
      gauge.set(labels, Number(row[name]));
    }
  }
}

/**
 * A gauge for everything that waits, read from the database when the metrics are asked for, and at most once a second
 * however often that is. A database that is away delays the answer a little, and these gauges are missing from it.
 */
export function registerBacklogs(
  registry: Registry,
  database: Queryable,
  backlogs: readonly Backlog[],
  failed: (error: unknown) => void,
): void {
  let reading: Promise<void> | undefined;
  let readMs = Number.NEGATIVE_INFINITY;

  async function readAll(): Promise<void> {
    for (const one of all) {
      try {
        await read(database, one);
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

  const all = backlogs.map((backlog): Told => {
    const labelNames = backlog.label === undefined ? [] : [backlog.label];
    const gauges = Object.entries(backlog.gauges).map(
      ([name, help]) =>
        [name, new Gauge({ name, help, labelNames, registers: [registry], collect })] as const,
    );
    return { backlog, gauges: new Map(gauges) };
  });
}
