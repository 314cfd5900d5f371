import { expect, it, vi } from 'vitest';
import { createLoop } from './loop.ts';

const HOUR_MS = 3_600_000;
const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 1 });

it('each turn returns how long to sleep before the next one, and a wake-up ends the sleep', async () => {
  const turns: boolean[] = [];
  const loop = createLoop({
    async turn(isWoken) {
      turns.push(isWoken);
      return turns.length === 1 ? 1 : HOUR_MS;
    },
    failed: () => HOUR_MS,
  });
  loop.start();
  await until(() => expect(turns).toEqual([false, false]));
  loop.wake();
  await until(() => expect(turns).toEqual([false, false, true]));
  await loop.stop();
  expect(turns).toHaveLength(3);
});

it('stopping waits for the turn in progress, starts no other one, and ends a first delay', async () => {
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<number>();
  const loop = createLoop({
    turn: () => {
      entered.resolve();
      return gate.promise;
    },
    failed: () => HOUR_MS,
  });
  loop.start(HOUR_MS);
  await loop.stop();
  loop.start();
  await entered.promise;
  const stopping = loop.stop();
  expect(loop.isRunning()).toBe(false);
  expect(await Promise.race([stopping.then(() => 'stopped'), Promise.resolve('waits')])).toBe('waits');
  gate.resolve(0);
  await stopping;
});

it('a turn that throws is reported, and the loop continues', async () => {
  const errors: unknown[] = [];
  let turns = 0;
  const loop = createLoop({
    async turn() {
      turns += 1;
      if (turns === 1) throw new Error('once');
      return HOUR_MS;
    },
    failed(error) {
      errors.push(error);
      return 1;
    },
  });
  loop.start();
  await until(() => expect(turns).toBe(2));
  await loop.stop();
  expect(errors).toEqual([new Error('once')]);
});

it('a running loop cannot be started again', async () => {
  const loop = createLoop({ turn: async () => HOUR_MS, failed: () => HOUR_MS });
  loop.start();
  expect(() => loop.start()).toThrow('the loop cannot go from RUNNING to RUNNING');
  await loop.stop();
});
