import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { disabledProblem, type ProfileFacts, recipientProblem } from '../kernel/profile-facts.ts';
import { LIMITS } from '../limits.ts';
import type { Settlement, SettlementStatus } from './transaction.ts';

/**
 * The life of a settlement transaction:
 *
 *              affirm (owner of the target)         settle (in the window)
 *   PENDING ────────────────────────────> AFFIRMED ────────────────────────> SETTLED
 *     │  │                                    │
 *     │  └── expire (the window has ended) ───┴──> EXPIRED
 *     └───── cancel (owner of the source) ───────> CANCELLED
 *
 * The window is half open: start <= now < end. `now` is the database's clock, the same for every node.
 */
export type Move = 'affirm' | 'cancel' | 'settle' | 'expire';

const MOVES: Readonly<Record<Move, { from: readonly SettlementStatus[]; to: SettlementStatus }>> = {
  affirm: { from: ['PENDING'], to: 'AFFIRMED' },
  cancel: { from: ['PENDING'], to: 'CANCELLED' },
  settle: { from: ['AFFIRMED'], to: 'SETTLED' },
  expire: { from: ['PENDING', 'AFFIRMED'], to: 'EXPIRED' },
};

const WINDOW_DEFAULT_NS = BigInt(LIMITS.settlementWindowDefaultMs) * NS_PER_MS;
const WINDOW_AHEAD_MAX_NS = BigInt(LIMITS.settlementWindowAheadMaxMs) * NS_PER_MS;

/** As the client sent it: the service sets what is omitted. */
export type AskedWindow = { readonly startNs: Instant | undefined; readonly endNs: Instant | undefined };
export type Window = { readonly startNs: Instant; readonly endNs: Instant };

export function windowOf(asked: AskedWindow, now: Instant): Window {
  const startNs = asked.startNs ?? now;
  return { startNs, endNs: asked.endNs ?? startNs + WINDOW_DEFAULT_NS };
}

/** Names the field that the client sent: if the end is omitted, it follows from the start. */
export function windowFault(asked: AskedWindow, now: Instant): Problem | undefined {
  const { startNs, endNs } = windowOf(asked, now);
  const end = formatInstant(endNs);
  const latest = now + WINDOW_AHEAD_MAX_NS;
  if (asked.endNs === undefined) {
    const pointer = '/settlement_window_start';
    if (endNs <= now) return invalidField(pointer, `makes the window end at ${end}, which is in the past`);
    if (endNs > latest)
      return invalidField(pointer, `makes the window end at ${end}, which is more than 90 days from now`);
    return undefined;
  }
  const pointer = '/settlement_window_end';
  if (endNs <= now) return invalidField(pointer, `must be in the future (now: ${formatInstant(now)})`);
  if (endNs <= startNs) return invalidField(pointer, 'must be after settlement_window_start');
  if (endNs > latest)
    return invalidField(
      pointer,
      `must be at most 90 days from now, that is, not after ${formatInstant(latest)}`,
    );
  return undefined;
}

/** Visibility is checked before permission: a profile that the caller may not see is reported as not found. */
export function partiesFault(
  customerId: string,
  source: { readonly id: string; readonly profile: ProfileFacts | undefined },
  target: { readonly id: string; readonly profile: ProfileFacts | undefined },
): Problem | undefined {
  if (source.profile?.customerId !== customerId) return notFound('profile', source.id);
  return (
    disabledProblem(source.profile) ??
    recipientProblem(target.profile, target.id, { customerId, profileId: source.id })
  );
}

/**
 * A transaction of a disabled profile cannot be affirmed. The caller, who owns the target, learns that of its own profile; of
 * the other party it learns only what `secondary_status` would say.
 */
export function disabledPartyFault(
  settlement: Pick<Settlement, 'id' | 'status' | 'customerId' | 'targetCustomerId'>,
  source: ProfileFacts,
  target: ProfileFacts,
): Problem | undefined {
  const own = disabledProblem(target);
  if (own !== undefined || source.status === 'ACTIVE') return own;
  if (settlement.customerId === settlement.targetCustomerId) return disabledProblem(source);
  const detail = `Settlement transaction ${settlement.id} cannot become AFFIRMED: a party to it cannot settle at the moment.`;
  return new Problem('invalid-state', detail, { status: settlement.status });
}

function isParty(settlement: Settlement, customerId: string): boolean {
  return settlement.customerId === customerId || settlement.targetCustomerId === customerId;
}

/** Whether the caller may make the move. A customer that owns both profiles is both parties. */
export function callerFault(
  settlement: Settlement | undefined,
  id: string,
  move: 'affirm' | 'cancel',
  customerId: string,
): Problem | undefined {
  if (settlement === undefined || !isParty(settlement, customerId))
    return notFound('settlement transaction', id);
  const [side, owner, profileId] =
    move === 'affirm'
      ? ['target', settlement.targetCustomerId, settlement.targetProfileId]
      : ['source', settlement.customerId, settlement.sourceProfileId];
  if (owner === customerId) return undefined;
  return new Problem('forbidden', `Only the owner of the ${side} profile ${profileId} may ${move}.`, {
    profile_id: profileId,
  });
}

/** The status by the clock: an open transaction has expired when its window has ended, even if its record is not updated yet. */
export function statusAt(settlement: Settlement, now: Instant): SettlementStatus {
  const open = settlement.status === 'PENDING' || settlement.status === 'AFFIRMED';
  return open && now >= settlement.windowEndNs ? 'EXPIRED' : settlement.status;
}

export function moveFault(settlement: Settlement, move: Move, now: Instant): Problem | undefined {
  const status = move === 'expire' ? settlement.status : statusAt(settlement, now);
  const { id, windowStartNs, windowEndNs } = settlement;
  const refused = (why: string): Problem =>
    new Problem('invalid-state', `Settlement transaction ${id} cannot become ${MOVES[move].to}: ${why}.`, {
      status,
    });
  if (!MOVES[move].from.includes(status)) {
    return refused(
      status === settlement.status
        ? `it is ${status}`
        : `it is ${status}, its window ended at ${formatInstant(windowEndNs)}`,
    );
  }
  if (move === 'settle' && now < windowStartNs)
    return refused(`its window opens at ${formatInstant(windowStartNs)}`);
  if (move === 'expire' && now < windowEndNs)
    return refused(`its window is open until ${formatInstant(windowEndNs)}`);
  return undefined;
}

/** The record after a move that `moveFault` accepts. */
export function moved(settlement: Settlement, move: Move, now: Instant): Settlement {
  // Instants of two nodes can be slightly out of order; those of one record never are.
  const updatedAtNs = now > settlement.updatedAtNs ? now : settlement.updatedAtNs + 1n;
  return { ...settlement, status: MOVES[move].to, secondaryStatus: null, updatedAtNs };
}
