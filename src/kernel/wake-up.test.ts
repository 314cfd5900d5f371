import { expect, it } from 'vitest';
import { createWakeUp } from './wake-up.ts';

const HOUR_MS = 3_600_000;

it('a sleep ends when its time is over', async () => {
  expect(await createWakeUp().sleep(1)).toBe('timeout');
});

it('a wake-up ends the sleep, and no later one', async () => {
  const wakeUp = createWakeUp();
  const sleeping = wakeUp.sleep(HOUR_MS);
  wakeUp.wake();
  wakeUp.wake();
  expect(await sleeping).toBe('woken');
  expect(await wakeUp.sleep(1)).toBe('timeout');
});

it('a wake-up that comes while nothing sleeps ends the next sleep at once', async () => {
  const wakeUp = createWakeUp();
  wakeUp.wake();
  expect(await wakeUp.sleep(HOUR_MS)).toBe('woken');
  expect(await wakeUp.sleep(1)).toBe('timeout');
});
