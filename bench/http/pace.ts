/**
 * How fast the machine itself is, from moment to moment. A host may slow its guests down, for power or for its other
 * guests, without telling them: then the slowest answers of a service are a figure of the host. Here they are told apart.
 *
 * Runs as child processes, one on each core, which measure the processor time that a small piece of work takes: a third of
 * a percent of a core. They are told when to end, and answer with the moments.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** From and to, in milliseconds since 1970. */
export type Stretch = readonly [number, number];

const EVERY_MS = 5;
const STEPS = 6_000;
/** So much slower than the median is slow; what is slow again that soon, still is. */
const SLOW = 2;
const NEAR_MS = 100;

function piece(seed: number): number {
  let value = seed;
  for (let step = 0; step < STEPS; step += 1) {
    value ^= value << 13;
    value ^= value >>> 17;
    value ^= value << 5;
  }
  return value;
}

const now = (): number => performance.timeOrigin + performance.now();

type Sample = { readonly at: number; readonly tookUs: number };

/** From the last good moment before to the first one after. */
export function slowStretches(samples: readonly Sample[]): Stretch[] {
  const sorted = samples.map(({ tookUs }) => tookUs).sort((one, other) => one - other);
  const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const stretches: [number, number][] = [];
  for (const [index, { at, tookUs }] of samples.entries()) {
    if (tookUs < SLOW * usual) continue;
    const from = samples[index - 1]?.at ?? at;
    const to = samples[index + 1]?.at ?? at;
    const last = stretches.at(-1);
    if (last !== undefined && from - last[1] < NEAR_MS) last[1] = to;
    else stretches.push([from, to]);
  }
  return stretches;
}

function watch(): void {
  const samples: Sample[] = [];
  let seed = 1;
  const timer = setInterval(() => {
    const before = process.cpuUsage();
    seed = piece(seed);
    const { user, system } = process.cpuUsage(before);
    samples.push({ at: now(), tookUs: user + system });
  }, EVERY_MS);
  process.once('message', () => {
    clearInterval(timer);
    process.send!(slowStretches(samples), () => process.disconnect());
  });
}

function watchCore(core: number): () => Promise<Stretch[]> {
  const program = [process.execPath, fileURLToPath(import.meta.url), 'watch'];
  const child = spawn('taskset', ['-c', String(core), ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const answer = new Promise<Stretch[]>((resolve) => {
    child.once('message', (stretches) => resolve(stretches as Stretch[]));
    // Where there is no such program, nothing is known.
    child.once('error', () => resolve([]));
    child.once('exit', () => resolve([]));
  });
  return () => {
    if (child.connected) child.send('end');
    return answer;
  };
}

/** Watches all cores from now on, until it is asked. In the order in which they began. */
export function watchPace(): () => Promise<Stretch[]> {
  const cores = Array.from({ length: availableParallelism() }, (_, core) => watchCore(core));
  return async () => {
    const stretches = (await Promise.all(cores.map((end) => end()))).flat();
    return stretches.sort(([one], [other]) => one - other);
  };
}

if (process.argv[2] === 'watch') watch();
