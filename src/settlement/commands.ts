import type { Static } from 'typebox';
import { event } from '../events/outbox.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant, NOT_AN_INSTANT, parseInstant } from '../kernel/instant.ts';
import type { ProfileFacts } from '../kernel/profile-facts.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type Write, write } from '../ledger/command.ts';
import { settlementEventType } from './event-types.ts';
import { presentSettlement } from './present.ts';
import {
  type AskedWindow,
  callerFault,
  disabledPartyFault,
  moved,
  moveFault,
  partiesFault,
  windowFault,
  windowOf,
} from './rules.ts';
import type { SettlementTransactionRequest } from './schema.ts';
import type { Leg, Settlement } from './transaction.ts';

export type SettlementTables = {
  readonly assets: Assets;
  readonly profiles: Table<ProfileFacts>;
  readonly newSettlements: Table<Settlement>;
  readonly settlements: Table<Settlement>;
};

type Request = Static<typeof SettlementTransactionRequest>;

/** One event for each party; a customer that is both parties gets one. */
export function settlementEvents(settlement: Settlement, assets: Assets): Write[] {
  const type = settlementEventType(settlement.status);
  const resource = presentSettlement(settlement, assets);
  const customers = new Set([settlement.customerId, settlement.targetCustomerId]);
  return [...customers].map((customerId) =>
    event(type, customerId, settlement.id, settlement.updatedAtNs, resource),
  );
}

type ReadRequest = { readonly window: AskedWindow; readonly legs: readonly Leg[] };

function readTime(fields: Fields, pointer: string, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant === undefined) fields.fault(pointer, NOT_AN_INSTANT);
  return instant;
}

/** Validates what depends only on the request, not on the clock. */
function readRequest(request: Request, assets: Assets): ReadRequest {
  const fields = createFields(assets);
  if (request.source_profile_id === request.target_profile_id) {
    fields.fault('/target_profile_id', 'must differ from source_profile_id');
  }
  const startNs = readTime(fields, '/settlement_window_start', request.settlement_window_start);
  const endNs = readTime(fields, '/settlement_window_end', request.settlement_window_end);
  if (startNs !== undefined && endNs !== undefined && endNs <= startNs) {
    fields.fault('/settlement_window_end', 'must be after settlement_window_start');
  }
  const legs = request.legs.map(({ direction, asset, amount }, index): Leg => {
    const known = fields.asset(`/legs/${index}/asset`, asset);
    const units = fields.amount(`/legs/${index}/amount`, amount, known);
    return { id: newId(), direction, asset, units: units ?? 0n };
  });
  fields.check();
  return { window: { startNs, endNs }, legs };
}

/**
 * Two requests are equivalent if the client asked for the same: times are compared as instants, amounts as numbers, legs in
 * their order. An omitted time equals only an omitted time, because its default depends on the time of the request.
 */
function comparedFields(request: Request, { window, legs }: ReadRequest, assets: Assets) {
  const time = (instant: Instant | undefined) => (instant === undefined ? undefined : formatInstant(instant));
  return {
    source_profile_id: request.source_profile_id,
    target_profile_id: request.target_profile_id,
    settlement_window_start: time(window.startNs),
    settlement_window_end: time(window.endNs),
    legs: legs.map(({ direction, asset, units }) => ({
      direction,
      asset,
      amount: assets.format(asset, units),
    })),
  };
}

/** Records the proposal of the source. Funds are neither needed nor held, so no balance is locked. */
export function createSettlementCommand(
  caller: Caller,
  request: Request,
  { assets, profiles, newSettlements }: SettlementTables,
): Command<Settlement> {
  const { source_profile_id: sourceProfileId, target_profile_id: targetProfileId } = request;
  const readable = readRequest(request, assets);
  const id = newId();
  const refId = request.ref_id ?? newId();
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    // A ref_id that the service assigned is claimed as well, so that the customer cannot use it for another transaction.
    key: {
      customerId: caller.customerId,
      space: 'settlement_transactions',
      refId,
      resourceId: id,
      request: comparedFields(request, readable, assets),
    },
    balances: [],
    reads: [read(profiles, sourceProfileId), read(profiles, targetProfileId)],
    decide(view) {
      const target = view.row(profiles, targetProfileId);
      const fault =
        windowFault(readable.window, view.now) ??
        partiesFault(
          caller.customerId,
          { id: sourceProfileId, profile: view.row(profiles, sourceProfileId) },
          { id: targetProfileId, profile: target },
        );
      if (fault !== undefined) return refuse(fault);
      const window = windowOf(readable.window, view.recordedAt);
      const settlement: Settlement = {
        id,
        customerId: caller.customerId,
        targetCustomerId: target!.customerId,
        refId,
        sourceProfileId,
        targetProfileId,
        windowStartNs: window.startNs,
        windowEndNs: window.endNs,
        status: 'PENDING',
        secondaryStatus: null,
        legs: readable.legs,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
      };
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [write(newSettlements, id, settlement), ...settlementEvents(settlement, assets)],
        answer: settlement,
      };
    },
  };
}

/**
 * A party affirms or cancels. The row is locked while the command decides, so of two concurrent commands, on one node or
 * on two, the second one sees the result of the first.
 */
export function moveSettlementCommand(
  caller: Caller,
  move: 'affirm' | 'cancel',
  /** As it was read before: only fields that never change are used. */
  seen: Pick<Settlement, 'id' | 'sourceProfileId' | 'targetProfileId'>,
  { assets, profiles, settlements }: SettlementTables,
): Command<Settlement> {
  const { id, sourceProfileId, targetProfileId } = seen;
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    balances: [],
    reads: [read(settlements, id), read(profiles, sourceProfileId), read(profiles, targetProfileId)],
    decide(view) {
      const settlement = view.row(settlements, id);
      const notPermitted = callerFault(settlement, id, move, caller.customerId);
      if (notPermitted !== undefined) return refuse(notPermitted);
      // Cancelling is allowed, whatever the state of the profiles.
      const disabled =
        move === 'cancel'
          ? undefined
          : disabledPartyFault(
              settlement!,
              view.row(profiles, sourceProfileId)!,
              view.row(profiles, targetProfileId)!,
            );
      const fault = disabled ?? moveFault(settlement!, move, view.now);
      if (fault !== undefined) return refuse(fault);
      const next = moved(settlement!, move, view.recordedAt);
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [write(settlements, id, next), ...settlementEvents(next, assets)],
        answer: next,
      };
    },
  };
}
