import { createLoop, type Loop } from './loop.ts';

/** Background work at an interval: runs, sleeps, runs again; never twice at once, and never keeps the process alive. */
export type Repeated = Pick<Loop, 'start' | 'stop'>;

/** The first run starts after one interval, unless `start` gets another delay. `again`: the next run follows at once. */
export function repeat(
  intervalMs: number,
  work: () => Promise<'again' | 'wait'>,
  failed: (error: unknown) => void,
): Repeated {
  const loop = createLoop({
    turn: async () => ((await work()) === 'again' ? 0 : intervalMs),
    failed(error) {
      failed(error);
      return intervalMs;
    },
  });
  return {
    start: (firstDelayMs = intervalMs) => loop.start(firstDelayMs),
    stop: loop.stop,
  };
}
