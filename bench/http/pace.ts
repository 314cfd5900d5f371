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
import { median } from '../figures.ts';

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
  const usual = median(samples.map(({ tookUs }) => tookUs));
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

/** When requests were due, and how long they took, in the order in which they were answered. */
export type Timeline = { readonly dueMs: readonly number[]; readonly tookMs: readonly number[] };

/** How long those took that met neither a slow stretch nor the queue that it left, which takes as long again. */
export function steadyTimes({ dueMs, tookMs }: Timeline, slow: readonly Stretch[]): number[] {
  const steady: number[] = [];
  let begun = 0;
  let lastEnd = 0;
  for (const [index, due] of dueMs.entries()) {
    const took = tookMs[index]!;
    for (; begun < slow.length && slow[begun]![0] <= due + took; begun += 1) {
      const [from, to] = slow[begun]!;
      lastEnd = Math.max(lastEnd, to + (to - from));
    }
    if (lastEnd < due) steady.push(took);
  }
  return steady;
}

/** Of the time between. Stretches are of all cores, in the order in which they began; where two were slow, that counts once. */
export function slowShare(slow: readonly Stretch[], [fromMs, toMs]: Stretch): number {
  let slowMs = 0;
  let until = fromMs;
  for (const [from, to] of slow) {
    const end = Math.min(to, toMs);
    slowMs += Math.max(0, end - Math.max(from, until));
    until = Math.max(until, end);
  }
  return slowMs / (toMs - fromMs);
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
  // Whoever asked for it is gone: nobody will tell it to end.
  process.once('disconnect', () => process.exit());
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
