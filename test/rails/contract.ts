import { describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { submitTo } from '../../src/rails/call.ts';
import type { Payment, Rail } from '../../src/rails/rail.ts';

/** What this test needs of a rail; a real one provides it on its test network. */
export type RailUnderTest = {
  readonly rail: () => Rail;
  /** A payment that the rail can make, and those that it refuses, or leaves without an answer. */
  readonly payment: (kind: 'good' | 'refused' | 'unanswered' | 'lost', key: string) => Payment;
  /** How often requests with that key arrived, and how many payments were made of them. */
  readonly record: (key: string) => Promise<{ requests: number; payments: number }>;
  readonly pass: (milliseconds: number) => void | Promise<void>;
};

const isChain = NETWORKS.isCryptoNetwork;
const signal = new AbortController().signal;

/** The contract of the interface `Rail`. Run it against every rail that you write. */
export function describeRail(name: string, under: RailUnderTest): void {
  const { payment, record, pass } = under;

  async function finalOf(key: string) {
    for (let round = 0; round < 50; round += 1) {
      const state = await under.rail().ask(key, signal);
      if (state.kind !== 'pending') return state;
      expect(state.nextAskMs).toBeGreaterThan(0);
      await pass(state.nextAskMs);
    }
    throw new Error(`${name} does not come to an end`);
  }

  describe(`the ${name} rail`, () => {
    it('pays what it accepted, and keeps reporting that', async () => {
      const key = newId();
      expect((await under.rail().submit(payment('good', key), signal)).kind).toBe('accepted');
      const final = await finalOf(key);
      expect(final.kind).toBe('completed');
      await pass(86_400_000);
      expect(await under.rail().ask(key, signal)).toEqual(final);
      if (isChain(name)) expect(final).toHaveProperty('txHash');
    });

    it('makes one payment for any number of requests with one key', async () => {
      const key = newId();
      const requests = Array.from({ length: 5 }, () => under.rail().submit(payment('good', key), signal));
      for (const result of await Promise.all(requests)) expect(result.kind).toBe('accepted');
      await finalOf(key);
      expect((await under.rail().submit(payment('good', key), signal)).kind).toBe('accepted');
      expect(await record(key)).toEqual({ requests: 6, payments: 1 });
    });

    it('does not know a key that was never submitted, and asking does not change that', async () => {
      const key = newId();
      for (let times = 0; times < 3; times += 1) {
        expect(await under.rail().ask(key, signal)).toEqual({ kind: 'not-found' });
      }
      expect(await record(key)).toEqual({ requests: 0, payments: 0 });
    });

    it('refuses permanently: a refused key is never paid', async () => {
      const key = newId();
      const final = { kind: 'failed', meaning: 'final' };
      expect(await under.rail().submit(payment('refused', key), signal)).toMatchObject(final);
      await pass(86_400_000);
      expect((await under.rail().ask(key, signal)).kind).toBe('failed');
      expect(await under.rail().submit(payment('refused', key), signal)).toMatchObject(final);
    });

    it('knows a request that was given up within its horizon', async () => {
      const key = newId();
      const given = await submitTo(under.rail(), payment('unanswered', key), 20);
      expect(given).toMatchObject({ kind: 'failed', meaning: 'unknown' });
      await pass(under.rail().horizonMs);
      // The horizon passes in simulated time; a request that was given up may still be in flight in real time.
      await expect.poll(async () => (await under.rail().ask(key, signal)).kind).not.toBe('not-found');
      expect((await finalOf(key)).kind).toBe('completed');
      expect(await record(key)).toEqual({ requests: 1, payments: 1 });
    });

    it('does not know a lost request after its horizon, and pays the next one', async () => {
      const key = newId();
      // Given up, and no longer in flight, which a timeout cannot show.
      const givenUp = AbortSignal.abort(new Error('no answer'));
      await expect(under.rail().submit(payment('lost', key), givenUp)).rejects.toThrow('no answer');
      await pass(under.rail().horizonMs);
      expect(await under.rail().ask(key, signal)).toEqual({ kind: 'not-found' });
      expect((await under.rail().submit(payment('lost', key), signal)).kind).toBe('accepted');
      expect((await finalOf(key)).kind).toBe('completed');
      expect(await record(key)).toEqual({ requests: 1, payments: 1 });
    });

    it('quotes a fee of zero or more', async () => {
      const quoted = await under.rail().quoteFee?.(payment('good', newId()).asset, signal);
      if (quoted !== undefined) expect(quoted).toBeGreaterThanOrEqual(0n);
    });

    it('provides deposit instructions: an address for each id, or a bank account', async () => {
      const rail = under.rail();
      if (!isChain(name)) {
        const instructions = await rail.depositInstructions!(signal);
        expect(Object.keys(instructions)).toEqual([name]);
        return;
      }
      const ids = Array.from({ length: 20 }, newId);
      const addresses = await Promise.all(ids.map((id) => rail.depositAddress!(id, signal)));
      expect(new Set(addresses).size).toBe(20);
      for (const address of addresses) expect(NETWORKS.addressFault(name, address)).toBeUndefined();
      expect(await rail.depositAddress!(ids[0]!, signal)).toBe(addresses[0]);
    });
  });
}
