import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createServerClock, type ServerClock } from '../../src/database/server-clock.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { steerServerClock } from '../support/server-clock.ts';
import { rightNow, shiftWallClock } from '../support/wall-clock.ts';

const HOUR = 3_600_000;
/** Far below the shifts in these tests, and far above any delay of the machine. */
const MINUTE = 60_000;
let test: TestDatabase;
let setServerClock: (aheadMs: number) => Promise<void>;
let clock: ServerClock;
beforeAll(async () => {
  test = await createTestDatabase();
  setServerClock = await steerServerClock(test);
  clock = await createServerClock(test.database, () => undefined);
  clock.start(0);
});
afterEach(() => shiftWallClock(0));
afterAll(async () => {
  await clock.stop();
  await test.drop();
});

const errorMs = (): number => clock.nowMs() - rightNow();

it("is the server's clock, whatever the wall clock of the node shows", async () => {
  expect(Math.abs(errorMs())).toBeLessThan(MINUTE);
  for (const shiftMs of [-HOUR, HOUR, 24 * HOUR]) {
    shiftWallClock(shiftMs);
    expect(Math.abs(errorMs())).toBeLessThan(MINUTE);
  }
  expect(clock.now() / NS_PER_MS - BigInt(clock.nowMs())).toBeLessThan(BigInt(MINUTE));
  const later = await createServerClock(test.database, () => undefined);
  expect(Math.abs(later.nowMs() - rightNow())).toBeLessThan(MINUTE);
});

it('follows the server when its clock is set forward or back', async () => {
  for (const aheadMs of [HOUR, -HOUR, 0]) {
    await setServerClock(aheadMs);
    await expect.poll(() => Math.abs(errorMs() - aheadMs)).toBeLessThan(MINUTE);
  }
});

it('keeps running while the server cannot be read, and reports the errors', async () => {
  const errors: unknown[] = [];
  let isDown = false;
  const flaky = await createServerClock(
    {
      ...test.database,
      query: (text, parameters) =>
        isDown ? Promise.reject(new Error('down')) : test.database.query(text, parameters),
    },
    (error) => errors.push(error),
  );
  isDown = true;
  flaky.start(0);
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  const before = flaky.nowMs();
  await expect.poll(() => flaky.nowMs() - before).toBeGreaterThan(20);
  await flaky.stop();
});
