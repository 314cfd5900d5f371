import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { acceptPayment, endOpenPayments, findProgress, stateOf } from '../rails/payment-store.ts';
import type { Rail, SubmitResult } from '../rails/rail.ts';
import { payableOf } from './orders.ts';
import { Unpayable } from './party.ts';
import type { BankSettings } from './settings.ts';

/** The rail: a request is one insert into the queue, an answer is one read. The worker makes files of the queue. */
export function createBankRail(parts: {
  readonly settings: BankSettings;
  readonly database: Database;
  readonly clock: Clock;
}): Rail {
  const { settings, database, clock } = parts;
  const { rail: name, instructions } = settings;
  const { nextAskMs, horizonMs } = BANK_LIMITS;

  /** Remembered, so that the same key is never paid. A key that was accepted before stays accepted. */
  async function refuse(payment: Parameters<Rail['submit']>[0], detail: string): Promise<SubmitResult> {
    const { key } = payment;
    const progress = await database.transaction(async (tx) => {
      const now = clock.now();
      if (await acceptPayment(tx, name, payment, now))
        await endOpenPayments(tx, [{ key, state: 'FAILED', detail }], now);
      return findProgress(tx, name, key);
    });
    return progress?.state === 'FAILED'
      ? { kind: 'failed', meaning: 'final', reason: progress.detail! }
      : { kind: 'accepted', nextAskMs };
  }

  return {
    name,
    horizonMs,
    async submit(payment, signal) {
      signal.throwIfAborted();
      try {
        payableOf(payment, settings);
      } catch (error) {
        if (error instanceof Unpayable) return refuse(payment, error.message);
        throw error;
      }
      await acceptPayment(database, name, payment, clock.now());
      return { kind: 'accepted', nextAskMs };
    },
    ask: async (key) => stateOf(await findProgress(database, name, key), nextAskMs),
    depositInstructions: () => Promise.resolve({ [name]: instructions }),
  };
}
