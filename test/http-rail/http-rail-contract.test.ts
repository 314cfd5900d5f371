import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment, Rail } from '../../src/rails/rail.ts';
import { describeRail } from '../rails/contract.ts';
import { type Adapter, missing, openHttpRail, startPythonAdapter } from './adapters.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

const paymentWith = (key: string, change: Partial<Payment> = {}): Payment => ({
  key,
  asset: 'USD',
  amountUnits: 12_345n,
  amount: '123.45',
  memo: null,
  destination: { instructions: { wire: { account_number: '1' } }, owner: { name: 'Ada' } },
  ...change,
});

const how = missing('python3');
if (how !== undefined) console.warn(`The contract of rails was not tested with an adapter: ${how}.`);

/** The contract of rails, with an adapter that is a process of its own. */
describe.runIf(how === undefined)('an adapter in Python', () => {
  let adapter: Adapter;
  let proxy: FaultyProxy;
  let rail: Rail & { close(): void };
  beforeAll(async () => {
    adapter = await startPythonAdapter();
    proxy = await startProxy(() => adapter.url);
    rail = await openHttpRail(proxy.url);
  });
  afterAll(async () => {
    rail.close();
    await proxy.close();
    await adapter.remove();
  });

  describeRail('wire', {
    rail: () => rail,
    payment(kind, key) {
      if (kind === 'unanswered') proxy.strike('PUT', 'there is no answer until the caller gives up');
      return paymentWith(key, kind === 'refused' ? { asset: 'EUR' } : {});
    },
    record: async (key) => ({ requests: proxy.requestsOf(key), payments: adapter.recordOf(key).payments }),
    // The adapter is a process: only real time passes for it.
    pass: (milliseconds) => sleep(Math.min(milliseconds, 50)),
  });

  it('a wrong secret pays nothing: the outcome is unknown, and the adapter cannot be asked', async () => {
    const stranger = await openHttpRail(adapter.url, {
      secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    });
    const signal = new AbortController().signal;
    expect(await stranger.submit(paymentWith('never'), signal)).toMatchObject({ meaning: 'unknown' });
    await expect(stranger.ask('never', signal)).rejects.toThrow('the adapter answers 401');
    expect(await rail.ask('never', signal)).toEqual({ kind: 'not-found' });
    stranger.close();
  });
});

it('an adapter that is not running has certainly not accepted anything', async () => {
  const gone = await openHttpRail('http://127.0.0.1:1');
  const signal = new AbortController().signal;
  const result = await gone.submit(paymentWith('a-key'), signal);
  expect(result).toMatchObject({
    kind: 'failed',
    meaning: 'retry',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  await expect(gone.ask('a-key', signal)).rejects.toThrow('ECONNREFUSED');
  gone.close();
});
