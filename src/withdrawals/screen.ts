import type { Assets } from '../kernel/asset.ts';
import { screeningOf } from '../policies/holds.ts';
import type { Screen, ScreeningRequest } from '../policies/screening.ts';
import type { Payment } from '../rails/rail.ts';
import { detailsOf } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Note } from './notes.ts';
import type { Ending } from './outcome.ts';
import type { Seen, Step } from './transitions.ts';
import { refusedByScreening, screeningWait } from './words.ts';

/** What a screening hook is asked about a withdrawal: the same that its rail is told. */
export function screeningRequest(rail: string, payment: Payment): ScreeningRequest {
  const { key, asset, amount, memo, destination, beneficiary } = payment;
  return {
    transfer_id: key,
    rail,
    asset,
    amount,
    ...(memo !== null && memo !== '' && { memo }),
    destination,
    originator: detailsOf(payment.originator!),
    ...(beneficiary && { beneficiary }),
  };
}

export type ScreeningParts = {
  readonly screen: Screen;
  /** What the rail would be asked to pay, with the parties. */
  readonly paymentFor: (transfer: Transfer, assets: Assets) => Promise<Payment>;
  readonly timeoutMs: number;
};

const noteOf = (seen: Seen, kind: Note['kind'], detail: string, hook: string): Omit<Note, 'atNs'> => ({
  transferId: seen.transfer.id,
  kind,
  detail,
  notedBy: `hook:${hook}`,
});

/** What to record before the hook is called; undefined if there is nothing to screen. */
export function beforeScreening(seen: Seen, leaseMs: number): Step | undefined {
  const hold = seen.work.state === 'QUEUED' ? screeningOf(seen.work.holds) : undefined;
  if (hold === undefined) return undefined;
  return {
    state: 'QUEUED',
    delayMs: leaseMs,
    failures: seen.work.failures,
    words: screeningWait(hold.rule),
    // Once, however often the hook does not answer.
    ...(seen.work.failures === 0 && {
      notes: [noteOf(seen, 'SCREENING_REQUESTED', `Asked the hook ${hold.hook}.`, hold.hook)],
    }),
  };
}

export type AfterScreening =
  | { readonly kind: 'go on' | 'wait'; readonly step: Step }
  | { readonly kind: 'end'; readonly ending: Ending };

/** Calls the hook, outside of any transaction. */
export async function screenNow(
  { screen, paymentFor, timeoutMs }: ScreeningParts,
  seen: Seen,
  assets: Assets,
  backOffMs: number,
): Promise<AfterScreening> {
  const hold = screeningOf(seen.work.holds)!;
  const payment = await paymentFor(seen.transfer, assets);
  const request = screeningRequest(seen.work.rail, payment);
  const screened = await screen(hold.hook, request, AbortSignal.timeout(timeoutMs));
  const words = screeningWait(hold.rule);
  if (screened.kind === 'refused') {
    const note = noteOf(seen, 'SCREENING_REFUSED', screened.reason, hold.hook);
    return {
      kind: 'end',
      ending: { kind: 'failed', words: refusedByScreening(screened.publicReason), note },
    };
  }
  if (screened.kind === 'held')
    return {
      kind: 'wait',
      step: { state: 'QUEUED', delayMs: backOffMs, failures: seen.work.failures + 1, words },
    };
  const holds = seen.work.holds!.map((one) => (one === hold ? { ...hold, passed: true as const } : one));
  const notes = [noteOf(seen, 'SCREENING_PASSED', screened.reason, hold.hook)];
  return { kind: 'go on', step: { state: 'QUEUED', delayMs: 0, failures: 0, words, holds, notes } };
}
