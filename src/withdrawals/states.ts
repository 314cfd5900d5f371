import type { Instant } from '../kernel/instant.ts';
import type { Payment } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';

/**
 * The work that a pending withdrawal still needs. The row is deleted when the withdrawal ends.
 *
 *   created
 *      │
 *      v       the intent is recorded            the rail accepts
 *   QUEUED ───────────────────────> SUBMITTING ───────────────────> SUBMITTED
 *      ^                             │  │   ^                          ^
 *      └─────────────────────────────┘  │   │ the rail never           │ the rail has it
 *        the rail accepted nothing      │   │ received it              │
 *                             no answer v   │                          │
 *                                      UNKNOWN ────────────────────────┘
 *
 *   Any state ──> ended: the rail has paid or failed, or, from QUEUED, the payment must not be sent.
 *
 * - QUEUED: the rail has not been called, or has certainly accepted nothing.
 * - SUBMITTING: the intent to call the rail is recorded. A worker that claims a row in this state knows that the worker
 *   that recorded it is gone.
 * - UNKNOWN: the rail may have been called. Nothing is sent until it has been asked.
 * - SUBMITTED: the rail has accepted the payment, and is asked for its progress.
 */
export type WorkState = 'QUEUED' | 'SUBMITTING' | 'SUBMITTED' | 'UNKNOWN';

/** Where each state can go without ending the withdrawal. Any state may end it. */
const NEXT: Readonly<Record<WorkState, readonly WorkState[]>> = {
  // Itself: it waits for a review of the fiat account, or until the rail can tell what it would cost.
  QUEUED: ['QUEUED', 'SUBMITTING'],
  SUBMITTING: ['SUBMITTED', 'QUEUED', 'UNKNOWN'],
  UNKNOWN: ['UNKNOWN', 'SUBMITTED', 'SUBMITTING'],
  // Never back: a payment that a rail has accepted is not sent a second time, even if the rail no longer reports it.
  SUBMITTED: ['SUBMITTED'],
};

/** Every change of state goes through here. Throws on one that is not in the drawing: it would be a bug that can pay twice. */
export function moveTo(from: WorkState, to: WorkState): WorkState {
  if (!NEXT[from].includes(to)) throw new Error(`a withdrawal cannot go from ${from} to ${to}`);
  return to;
}

export type Work = {
  readonly transferId: string;
  readonly rail: string;
  readonly state: WorkState;
  /** When a worker looks at it next; while a worker has it, the end of its lease. */
  readonly dueAtNs: Instant;
  /** Incremented by every change and every claim. */
  readonly version: bigint;
  /** Calls of `submit`, each recorded before it is made. */
  readonly attempts: number;
  /** Consecutive failures, for the back-off. */
  readonly failures: number;
  readonly intentAtNs: Instant | null;
  readonly payment: Payment | null;
  readonly fiatAccountId: string | null;
};

/** A row of work as it is written; `done` deletes it. */
export type WorkWrite = Work & { readonly done?: boolean };

/** Work that a worker has claimed, as it was then. */
export type ClaimedWork = { readonly work: Work; readonly nowNs: Instant };
export type Claimed = ClaimedWork & { readonly transfer: Transfer };

/** Due at once, even if the worker will find that the withdrawal waits for a review. */
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
