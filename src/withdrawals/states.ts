import type { Instant } from '../kernel/instant.ts';
import type { Payment } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';

/**
 * What is still to be done about a pending withdrawal.
 *
 * - QUEUED: the rail has not been called, or has said for certain that it took nothing on.
 * - SUBMITTING: the intent to call it is recorded. Found again in this state, whoever recorded it is gone.
 * - UNKNOWN: it may have been called. Nothing is sent until the rail has been asked.
 * - SUBMITTED: the rail has it. It is asked how it goes.
 */
export type WorkState = 'QUEUED' | 'SUBMITTING' | 'SUBMITTED' | 'UNKNOWN';

export type Work = {
  readonly transferId: string;
  readonly rail: string;
  readonly state: WorkState;
  /** When a worker looks at it next; while one does, the end of its lease. */
  readonly dueAtNs: Instant;
  /** Another one after every change, claims included. */
  readonly version: bigint;
  readonly attempts: number;
  readonly failures: number;
  readonly intentAtNs: Instant | null;
  readonly payment: Payment | null;
  readonly fiatAccountId: string | null;
};

/** A row of work as it is written; `done` removes it. */
export type WorkWrite = Work & { readonly done?: boolean };

/** What a worker has claimed, as it was then. */
export type Claimed = { readonly work: Work; readonly transfer: Transfer; readonly nowNs: Instant };

/** The first work of a withdrawal: due at once, even if a worker will then find that it waits for a review. */
export function firstWork(transfer: Transfer, rail: string, dueAtNs: Instant): Work {
  return {
    transferId: transfer.id,
    rail,
    state: 'QUEUED',
    dueAtNs,
    version: 0n,
    attempts: 0,
    failures: 0,
    intentAtNs: null,
    payment: null,
    fiatAccountId: transfer.fiatAccountId ?? null,
  };
}
