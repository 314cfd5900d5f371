import type { Instant } from '../kernel/instant.ts';
import type { Hold } from '../policies/holds.ts';
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
 *   Any state ──> ended: the rail has paid or failed, or, from QUEUED, the payment must not be sent, or an operator ended
 *   it (`operatorFault`).
 *
 * - QUEUED: the rail has not been called, or has certainly accepted nothing.
 * - SUBMITTING: the intent to call the rail is recorded. If a worker can claim a row in this state, the lease of the
 *   worker that recorded the intent has expired: it crashed, or was suspended.
 * - UNKNOWN: the rail may have been called. Nothing is sent until it has been asked.
 * - SUBMITTED: the rail has accepted the payment, and is asked for its progress.
 */
export const WORK_STATES = ['QUEUED', 'SUBMITTING', 'SUBMITTED', 'UNKNOWN'] as const;
export type WorkState = (typeof WORK_STATES)[number];

/** The transitions that do not end the withdrawal. It can end in any state. */
const NEXT: Readonly<Record<WorkState, readonly WorkState[]>> = {
  // To itself: it waits for the review of the fiat account, for a freeze or a policy, or until the rail answers what the payment costs.
  QUEUED: ['QUEUED', 'SUBMITTING'],
  SUBMITTING: ['SUBMITTED', 'QUEUED', 'UNKNOWN'],
  UNKNOWN: ['UNKNOWN', 'SUBMITTED', 'SUBMITTING'],
  // Never back: a payment that a rail has accepted is not sent a second time, even if the rail no longer reports it.
  SUBMITTED: ['SUBMITTED'],
};

/** Checks every change of state. Throws if it is not in the drawing: that would be a bug, which could pay twice. */
export function moveTo(from: WorkState, to: WorkState): WorkState {
  if (!NEXT[from].includes(to)) throw new Error(`a withdrawal cannot go from ${from} to ${to}`);
  return to;
}

/** How an operator may end a withdrawal. */
export type OperatorEnding = 'cancel' | 'resolve';

/**
 * Why an operator cannot end the withdrawal in this way; undefined if it is possible.
 *
 * - Cancel: only while QUEUED, when the rail certainly has nothing. A worker that has claimed the row records its intent in a
 *   command that locks the row, and finds that it is gone.
 * - Resolve: only after a request was made. While the lease of a SUBMITTING row runs, a worker may be calling the rail at this
 *   moment: what the operator knows cannot include that call.
 */
export function operatorFault(
  work: Pick<Work, 'state' | 'dueAtNs'>,
  ending: OperatorEnding,
  now: Instant,
): string | undefined {
  if (ending === 'cancel') {
    return work.state === 'QUEUED'
      ? undefined
      : 'The rail may have it already: it can be resolved, not cancelled.';
  }
  if (work.state === 'QUEUED') return 'The rail has not received it: it can be cancelled, not resolved.';
  if (work.state === 'SUBMITTING' && work.dueAtNs > now)
    return 'It is being submitted to the rail at the moment: retry in a minute.';
  return undefined;
}

export type Work = {
  readonly transferId: string;
  readonly rail: string;
  readonly state: WorkState;
  /** When a worker claims it next; while a worker has it, the end of the lease. */
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
  /** Waits until a freeze is lifted. */
  readonly frozen: boolean;
  /** What policies require before the rail is called; null if nothing. */
  readonly holds: readonly Hold[] | null;
};

/** With the parties of the withdrawal: it waits while one of them is frozen. */
export type NewWork = Work & Pick<Transfer, 'profileId' | 'customerId' | 'identityId' | 'accountId'>;

/** A row of work as it is written; `done` deletes it. */
export type WorkWrite = Work & { readonly done?: boolean };

/** Work that a worker has claimed, as it was at that time. */
export type ClaimedWork = { readonly work: Work; readonly nowNs: Instant };
export type Claimed = ClaimedWork & { readonly transfer: Transfer };

/** Due at once, even if the withdrawal has to wait for a review: the worker finds that out. */
export function firstWork(
  transfer: Transfer,
  rail: string,
  { dueAtNs, holds }: Pick<Work, 'dueAtNs' | 'holds'>,
): NewWork {
  const { profileId, customerId, identityId, accountId } = transfer;
  return {
    transferId: transfer.id,
    profileId,
    customerId,
    identityId: identityId ?? null,
    accountId: accountId ?? null,
    rail,
    state: 'QUEUED',
    dueAtNs,
    version: 0n,
    attempts: 0,
    failures: 0,
    intentAtNs: null,
    payment: null,
    fiatAccountId: transfer.fiatAccountId ?? null,
    frozen: false,
    holds,
  };
}
