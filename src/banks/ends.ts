import type { Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { appendReports, type Report } from '../rails/notice-store.ts';
import { endOpenPayments, type KnownPayment, type PaymentEnd } from '../rails/payment-store.ts';
import type { RailName } from '../rails/rail.ts';
import { noteOutcomes } from './file-store.ts';

/** Those that say something new about their payment. */
export const newEnds = (
  ends: readonly PaymentEnd[],
  payments: ReadonlyMap<string, KnownPayment>,
): readonly PaymentEnd[] => ends.filter(({ key, state }) => payments.get(key)?.state !== state);

/** Ends the payments that have not ended, and reports all of these ends: the service records contradictions. */
export async function applyEnds(
  tx: Transaction,
  { rail, now }: { readonly rail: RailName; readonly now: Instant },
  ends: readonly PaymentEnd[],
): Promise<void> {
  if (ends.length === 0) return;
  await endOpenPayments(tx, ends, now);
  await noteOutcomes(tx, ends);
  const reports = ends.map(
    ({ key, state, detail, privateDetail: privateReason }): Report => ({
      sourceKey: `payment ${key} ${state}`,
      notice: {
        about: 'payment',
        rail,
        key,
        state:
          state === 'COMPLETED'
            ? { kind: 'completed', detail }
            : { kind: 'failed', reason: detail, ...(privateReason !== undefined && { privateReason }) },
      },
    }),
  );
  await appendReports(tx, rail, reports, now);
}
