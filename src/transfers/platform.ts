import type { Static } from 'typebox';
import { event } from '../events/outbox.ts';
import { type Actor, type ActorFacts, actorFault, actorKey } from '../identity/rules.ts';
import type { Assets } from '../kernel/asset.ts';
import { canonicalRequest } from '../kernel/canonical.ts';
import { createFields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type View, write } from '../ledger/command.ts';
import type { Profile } from '../profiles/profile.ts';
import type { PlatformTransferRequest } from './schema.ts';
import { presentTransfer, type Transfer, type TransferType } from './transfer.ts';

/** Transfers inside the service: both sides are posted and completed in one transaction, without a fee. */
export type InsideKind = 'PLATFORM' | 'INTERNAL';

export type InsideTables = {
  readonly assets: Assets;
  readonly profiles: Table<Profile>;
  readonly actors: Table<ActorFacts>;
  readonly newTransfers: Table<Transfer>;
};

type Request = Static<typeof PlatformTransferRequest>;

export function transferEvent(transfer: Transfer, assets: Assets) {
  const type = `transfer.${transfer.type.toLowerCase()}.${transfer.status.toLowerCase()}`;
  return event(
    type,
    transfer.customerId,
    transfer.id,
    transfer.updatedAtNs,
    presentTransfer(transfer, assets),
  );
}

/** Cheapest first; who may see what before who may do what. */
export function insideFault(
  kind: InsideKind,
  caller: Caller,
  request: Request,
  view: View,
  tables: InsideTables,
): Problem | undefined {
  const from = view.row(tables.profiles, request.from_profile_id);
  const to = view.row(tables.profiles, request.to_profile_id);
  if (from?.customerId !== caller.customerId) return notFound('profile', request.from_profile_id);
  if (to === undefined) return notFound('profile', request.to_profile_id);
  if (kind === 'INTERNAL' && to.customerId !== caller.customerId)
    return notFound('profile', request.to_profile_id);
  for (const profile of [from, to]) {
    if (profile.status !== 'ACTIVE') {
      return new Problem('forbidden', `Profile ${profile.id} is disabled.`, { profile_id: profile.id });
    }
  }
  for (const [side, customerId] of [
    ['from', caller.customerId],
    ['to', to.customerId],
  ] as const) {
    const actor = actorOf(request, side);
    if (actor === undefined) continue;
    const facts = view.row(tables.actors, actorKey(actor));
    const pointers = { identity: `/${side}_identity_id`, account: `/${side}_account_id` };
    const fault = actorFault(actor, facts, customerId, pointers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function actorOf(request: Request, side: 'from' | 'to'): Actor | undefined {
  const actor = { identityId: request[`${side}_identity_id`], accountId: request[`${side}_account_id`] };
  return actor.identityId === undefined && actor.accountId === undefined ? undefined : actor;
}

/** What can be said about the request without looking at anything else. */
function readRequest(caller: Caller, request: Request, assets: Assets): bigint {
  const fields = createFields(assets);
  if (request.from_profile_id === request.to_profile_id) {
    fields.fault('/to_profile_id', 'must be another profile than from_profile_id');
  }
  if (caller.integration === 'THIRD_PARTY') {
    for (const name of ['from_account_id', 'to_account_id'] as const) {
      if (request[name] === undefined) fields.fault(`/${name}`, 'is required for third-party integrations');
    }
  }
  const units = fields.amount('/amount', request.amount, fields.asset('/asset', request.asset));
  fields.check();
  return units!;
}

type Sides = { debit: Transfer; credit: Transfer };

/** The credit side is the receiver's: it does not show the sender's ref_id, metadata or identity. */
function sidesOf(
  kind: InsideKind,
  request: Request,
  units: bigint,
  ids: { group: string; debit: string; credit: string },
  owners: { from: string; to: string },
  now: Instant,
): Sides {
  const common = {
    status: 'COMPLETED',
    asset: request.asset,
    amountUnits: units,
    feeUnits: 0n,
    balanceAsset: request.asset,
    balanceUnits: units,
    createdAtNs: now,
    updatedAtNs: now,
    groupId: ids.group,
  } as const;
  return {
    debit: {
      ...common,
      id: ids.debit,
      customerId: owners.from,
      profileId: request.from_profile_id,
      type: `${kind}_TRANSFER_DEBIT` satisfies TransferType,
      direction: 'DEBIT',
      identityId: request.from_identity_id ?? null,
      accountId: request.from_account_id ?? null,
      refId: request.ref_id ?? null,
      metadata: request.metadata ?? null,
    },
    credit: {
      ...common,
      id: ids.credit,
      customerId: owners.to,
      profileId: request.to_profile_id,
      type: `${kind}_TRANSFER_CREDIT` satisfies TransferType,
      direction: 'CREDIT',
      identityId: request.to_identity_id ?? null,
      accountId: request.to_account_id ?? null,
      metadata: request.recipient_metadata ?? null,
    },
  };
}

export function insideTransferCommand(
  kind: InsideKind,
  caller: Caller,
  request: Request,
  tables: InsideTables,
): Command<Transfer> {
  const { assets, profiles, actors, newTransfers } = tables;
  const { asset, from_profile_id: fromId, to_profile_id: toId } = request;
  const units = readRequest(caller, request, assets);
  const ids = { group: newId(), debit: newId(), credit: newId() };
  const canonical = { ...request, operation: kind, amount: assets.format(asset, units) };
  return {
    key:
      request.ref_id === undefined
        ? undefined
        : {
            customerId: caller.customerId,
            space: 'transfers',
            refId: request.ref_id,
            resourceId: ids.debit,
            request: canonicalRequest(canonical),
          },
    balances: [
      { profileId: fromId, asset },
      { profileId: toId, asset },
    ],
    reads: [
      read(profiles, fromId),
      read(profiles, toId),
      ...(['from', 'to'] as const).flatMap((side) => {
        const actor = actorOf(request, side);
        return actor === undefined ? [] : [read(actors, actorKey(actor))];
      }),
    ],
    decide(view) {
      const fault = insideFault(kind, caller, request, view, tables);
      if (fault !== undefined) return refuse(fault);
      const owners = { from: caller.customerId, to: view.row(profiles, toId)!.customerId };
      const { debit, credit } = sidesOf(kind, request, units, ids, owners, view.now);
      return {
        accepted: true,
        causeId: ids.group,
        postings: [
          {
            asset,
            units,
            from: { profileId: fromId, account: 'available' },
            to: { profileId: toId, account: 'available' },
          },
        ],
        writes: [
          write(newTransfers, debit.id, debit),
          write(newTransfers, credit.id, credit),
          transferEvent(debit, assets),
          transferEvent(credit, assets),
        ],
        answer: debit,
      };
    },
  };
}
