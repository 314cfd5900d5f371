// The other side of the comparison: pgbench, which comes with PostgreSQL and is as fast as a client gets.
import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { processCpuUs, serverCpuUs } from './cpu.ts';
import { type Figures, MEASURED_SECONDS, WARM_UP_SECONDS } from './figures.ts';

const DEBIAN = '/usr/lib/postgresql';

export const PGBENCH_MISSING =
  'pgbench is needed for the comparison: install it with `apt-get install postgresql` (or put it on the PATH).';

export function findPgbench(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  let debian: string[] = [];
  try {
    // The newest first: 18 after 9 by number, not by text.
    const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    debian = versions.map((version) => join(DEBIAN, version, 'bin'));
  } catch {
    // Not Debian, or not installed.
  }
  return [...onPath, ...debian].map((directory) => join(directory, 'pgbench')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export type PgbenchTarget = {
  readonly program: string;
  readonly socketDir: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly postmasterPid: number;
  readonly threads: number;
};

export type PgbenchScript = {
  readonly path: string;
  readonly variables: Readonly<Record<string, string | number>>;
};

type Second = { readonly tps: number; readonly clientCpuUs: number; readonly serverCpuUs: number };

/**
 * Takes what pgbench reports each second and leaves out the first: while 64 backends start and plan their statements
 * it is up to half as fast, and the write path's one connection is warm already.
 */
export async function runPgbench(
  target: PgbenchTarget,
  script: PgbenchScript,
  clients: number,
): Promise<Figures & { readonly total: number }> {
  const flags = ['--no-vacuum', '--protocol=prepared', `--file=${script.path}`, '--progress=1'];
  flags.push(`--time=${WARM_UP_SECONDS + MEASURED_SECONDS}`);
  flags.push(`--client=${clients}`, `--jobs=${Math.min(clients, target.threads)}`);
  for (const [name, value] of Object.entries(script.variables)) flags.push(`--define=${name}=${value}`);
  flags.push(`--host=${target.socketDir}`, `--port=${target.port}`, `--username=${target.user}`);
  const child = spawn(target.program, [...flags, target.database], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing else of the caller's environment: PGOPTIONS could turn off what both sides must have on.
    env: { PATH: process.env.PATH },
  });

  const seconds: Second[] = [];
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    const progress = /^progress: [0-9.]+ s, ([0-9.]+) tps/.exec(line);
    if (progress === null) complaints.push(line);
    else {
      seconds.push({
        tps: Number(progress[1]),
        clientCpuUs: processCpuUs(child.pid ?? 0),
        serverCpuUs: serverCpuUs(target.postmasterPid),
      });
    }
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });

  const total = Number(/actually processed: ([0-9]+)/.exec(output)?.[1]);
  const failed = Number(/failed transactions: ([0-9]+)/.exec(output)?.[1] ?? 0);
  const measured = seconds.slice(WARM_UP_SECONDS);
  if (exitCode !== 0 || failed > 0 || !(total > 0) || measured.length === 0) {
    throw new Error(`pgbench failed (exit code ${exitCode}):\n${[...complaints, output].join('\n')}`);
  }
  // The CPU of the last second is not read: the processes may have ended before the line reached us.
  const [from, to] = [seconds[WARM_UP_SECONDS - 1]!, measured[0]!];
  return {
    total,
    perSecond: measured.reduce((sum, { tps }) => sum + tps, 0) / measured.length,
    clientCpuUs: (to.clientCpuUs - from.clientCpuUs) / to.tps,
    serverCpuUs: (to.serverCpuUs - from.serverCpuUs) / to.tps,
    batchSize: 1,
  };
}
