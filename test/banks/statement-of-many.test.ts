import { afterAll, beforeAll, expect, it } from 'vitest';
import { rounds } from '../support/rounds.ts';
import { type BankWorld, createBankWorld } from './bank-world.ts';
import { payMany } from './many-payments.ts';

/** FERRY_TEST_LONG: all of it, as `npm run test:banks` does. */
const COUNT = rounds(200, 10_000);

let world: BankWorld;
beforeAll(async () => {
  world = await createBankWorld({
    settings: { batch: { payments_max: COUNT === 10_000 ? 1_000 : 40, seconds: 0 } },
  });
});
afterAll(() => world.remove());

it(`${COUNT} payments of a day and their statement are reconciled to zero`, {
  timeout: 900_000,
}, async () => {
  const measured = await payMany(world, COUNT);
  expect(measured.files).toBeGreaterThanOrEqual(5);
  if (COUNT === 10_000) console.log(measured);
});
