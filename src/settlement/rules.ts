import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Settlement, SettlementStatus } from './transaction.ts';

/**
 * The life of a settlement transaction:
 *
 *   PENDING  --affirm, by the target's owner--> AFFIRMED
 *   PENDING  --cancel, by the source's owner--> CANCELLED
 *   AFFIRMED --settle, inside the window------> SETTLED
 *   PENDING, AFFIRMED --expire, from its end--> EXPIRED
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

/** As the client sent it: either end may be left to the service. */
export type AskedWindow = { readonly startNs: Instant | undefined; readonly endNs: Instant | undefined };
export type Window = { readonly startNs: Instant; readonly endNs: Instant };

export function windowOf(asked: AskedWindow, now: Instant): Window {
  const startNs = asked.startNs ?? now;
  return { startNs, endNs: asked.endNs ?? startNs + WINDOW_DEFAULT_NS };
}

/** Names the field that was sent: without an end, the start is what puts the end where it is. */
export function windowFault(asked: AskedWindow, now: Instant): Problem | undefined {
  const { startNs, endNs } = windowOf(asked, now);
  const end = formatInstant(endNs);
  const latest = now + WINDOW_AHEAD_MAX_NS;
  if (asked.endNs === undefined) {
    const pointer = '/settlement_window_start';
    if (endNs <= now) return invalidField(pointer, `lets the window end at ${end}, which is in the past`);
    if (endNs > latest)
      return invalidField(pointer, `lets the window end at ${end}, which is more than 90 days away`);
    return undefined;
  }
  const pointer = '/settlement_window_end';
  if (endNs <= now) return invalidField(pointer, `must be in the future; it is ${formatInstant(now)}`);
  if (endNs <= startNs) return invalidField(pointer, 'must be after settlement_window_start');
  if (endNs > latest)
    return invalidField(pointer, `must be at most 90 days away, so not after ${formatInstant(latest)}`);
  return undefined;
}

/** What creating needs to know of a profile. */
export type Party = {
  readonly id: string;
  readonly customerId: string;
  readonly status: 'ACTIVE' | 'DISABLED';
};

export function disabledFault(party: Party): Problem | undefined {
  if (party.status === 'ACTIVE') return undefined;
  return new Problem('forbidden', `Profile ${party.id} is disabled.`, { profile_id: party.id });
}

/** Who may see what before who may do what. */
export function partiesFault(
  customerId: string,
  source: { readonly id: string; readonly profile: Party | undefined },
  target: { readonly id: string; readonly profile: Party | undefined },
): Problem | undefined {
  if (source.profile?.customerId !== customerId) return notFound('profile', source.id);
  if (target.profile === undefined) return notFound('profile', target.id);
  return disabledFault(source.profile) ?? disabledFault(target.profile);
}

export function isParty(settlement: Settlement, customerId: string): boolean {
  return settlement.customerId === customerId || settlement.targetCustomerId === customerId;
}

/** A customer that owns both profiles is both parties. */
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

/** By the clock: an open transaction has expired with its window, also before its record says so. */
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

/** The record after a move that `moveFault` has nothing against. */
export function moved(settlement: Settlement, move: Move, now: Instant): Settlement {
  // Instants of two nodes can lie a little out of order; those of one record never do.
  const updatedAtNs = now > settlement.updatedAtNs ? now : settlement.updatedAtNs + 1n;
  return { ...settlement, status: MOVES[move].to, secondaryStatus: null, updatedAtNs };
}
