// The machine that the figures are from, and whether they can be trusted.
import { mkdtemp, open, statfs } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../src/database/database.ts';
import { othersCpuUs } from './cpu.ts';
import { median } from './figures.ts';

/** Of all cores. Above it the figures say more about the neighbours: pgbench's many processes get many shares. */
const OTHERS_SHARE_MAX = 0.1;

/** A sync costs nothing in memory, and a comparison of commits nothing either: then the other usual place. */
export async function scratchDirectory(): Promise<string> {
  const TMPFS = 0x01021994;
  const inMemory = (await statfs(tmpdir())).type === TMPFS;
  return mkdtemp(join(inMemory ? '/var/tmp' : tmpdir(), 'ferry-bench-'));
}

async function syncMs(directory: string): Promise<number> {
  const file = await open(join(directory, 'sync-probe'), 'w');
  const page = Buffer.alloc(8192);
  const times: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const started = performance.now();
    await file.write(page, 0, page.length, 0);
    await file.datasync();
    times.push(performance.now() - started);
  }
  await file.close();
  return median(times);
}

/** Refuses what makes commits cheap by making them uncertain. */
export async function requireDurability(database: Database): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const [row] = await database.query<Record<string, string>>(`show ${setting}`);
    if (row?.[setting] !== 'on')
      throw new Error(`${setting} is ${row?.[setting]}: only durable commits count.`);
  }
}

export type Machine = {
  readonly processor: string;
  readonly cores: number;
  readonly memory_gb: number;
  readonly node: string;
  readonly postgresql: string;
  /** A page written and synced, the median of many: what a lone commit costs at least. */
  readonly synced_write_ms: number;
};

export async function describeMachine(directory: string, database: Database): Promise<Machine> {
  const [version] = await database.query<{ server_version: string }>('show server_version');
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgresql: version!.server_version,
    synced_write_ms: Number((await syncMs(directory)).toFixed(2)),
  };
}

export function machineLine(machine: Machine): string {
  return (
    `PostgreSQL ${machine.postgresql}, fsync and synchronous_commit on; ${machine.cores} cores; ` +
    `a synced write takes ${machine.synced_write_ms.toFixed(2)} ms.`
  );
}

/** Watches the neighbours from now on. A busy machine favours whoever has more processes, so it has to be said. */
export function watchOthers(postmasterPid: number, childPids: () => readonly number[] = () => []) {
  const fromMs = performance.now();
  const fromUs = othersCpuUs(postmasterPid, childPids());
  /** The share of the machine that went to others so far; said aloud when it is too much. */
  return (): number => {
    const us = othersCpuUs(postmasterPid, childPids()) - fromUs;
    const share = us / ((performance.now() - fromMs) * 1_000 * availableParallelism());
    if (share > OTHERS_SHARE_MAX) {
      console.log(
        `\nOther processes took ${Math.round(share * 100)}% of the machine during the run: do not trust these ` +
          'figures, except for the CPU time of each, and that only roughly.',
      );
    }
    return share;
  };
}

/** The server is a process of its own and would outlive an interrupted run. */
export function cleanUpWhenInterrupted(cleanUp: () => Promise<void>): void {
  const interrupted = (): void => {
    // What the measurement says when its server goes away is of no interest any more.
    process.on('uncaughtException', () => undefined);
    void cleanUp().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
}
