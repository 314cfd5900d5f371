import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import type { Rail, SubmitResult } from '../../src/rails/rail.ts';
import { createWorld, type World } from '../support/payouts.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.drop());

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** BITCOIN is down until then: some calls are refused, some are never answered. */
function downUntil(untilNs: bigint, calls: { count: number }) {
  return (rail: Rail): Rail => {
    if (rail.name !== 'BITCOIN') return rail;
    const isDown = (): boolean => world.now() < untilNs;
    const away = async (): Promise<SubmitResult> => {
      calls.count += 1;
      if (calls.count % 2 === 0) throw new Error('ECONNREFUSED');
      return { kind: 'failed', meaning: 'retry', reason: 'down' };
    };
    return {
      ...rail,
      submit: (payment, signal) => (isDown() ? away() : rail.submit(payment, signal)),
      ask: async (key, signal) => {
        if (!isDown()) return rail.ask(key, signal);
        calls.count += 1;
        throw new Error('ECONNREFUSED');
      },
    };
  };
}

it('a rail that is down for an hour delays its own transfers and no others', async () => {
  const started = world.now();
  const upAgain = started + BigInt(HOUR_MS) * 1_000_000n;
  const calls = { count: 0 };
  const node = world.createNode({ wrapRail: downUntil(upAgain, calls) });
  const profile = await world.createProfile({ BTC: '1000', LTC: '1000', USD: '100000' });
  const account = await world.createAccount('wire');
  const count = 200;
  const ids = { BTC: [] as string[], LTC: [] as string[], USD: [] as string[] };
  for (let index = 0; index < count; index += 1) {
    ids.BTC.push((await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' })).id);
  }
  for (let index = 0; index < 20; index += 1) {
    ids.LTC.push((await world.withdrawCrypto(profile, { asset: 'LTC', crypto_network: 'LITECOIN' })).id);
    ids.USD.push((await world.withdrawFiat(profile, account)).id);
  }
  const statuses = async (some: readonly string[]) =>
    new Set(await Promise.all(some.map(async (id) => (await world.transferOf(id)).status)));

  // In steps of 20 seconds: half an hour for the wires, 50 minutes for 20 confirmations of LITECOIN.
  const passUntil = async (untilNs: bigint) => {
    while (world.now() < untilNs) {
      while ((await node.worker.runDue()) > 0);
      world.advance(20_000);
    }
    while ((await node.worker.runDue()) > 0);
  };
  const at = (ms: number) => started + BigInt(ms) * 1_000_000n;
  await passUntil(at(31 * MINUTE_MS));
  expect(await statuses(ids.USD)).toEqual(new Set(['COMPLETED']));
  await passUntil(at(52 * MINUTE_MS));
  expect(await statuses(ids.LTC)).toEqual(new Set(['COMPLETED']));
  expect(await statuses(ids.BTC)).toEqual(new Set(['PENDING']));
  // A closed lane is tried about twice a minute, however many withdrawals wait in it.
  expect(calls.count).toBeLessThan(200);

  await passUntil(at(HOUR_MS + LIMITS.railBackoffMaxMs + 32 * MINUTE_MS));
  expect(await statuses(ids.BTC)).toEqual(new Set(['COMPLETED']));
  for (const id of ids.BTC) expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
  console.log(`calls of the rail while it was down for an hour with ${count} waiting: ${calls.count}`);
});
