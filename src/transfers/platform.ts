import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields } from '../kernel/fields.ts';
import { notFound, type Problem } from '../kernel/problem.ts';
import { disabledProblem, recipientProblem } from '../kernel/profile-facts.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, type IdempotencyKey, read, refuse, type View, write } from '../ledger/command.ts';
import { transferEvent } from './event.ts';
import { endUserProblem, endUserReads, requireForThirdParty, type TransferTables } from './request.ts';
import type { PlatformTransferRequest } from './schema.ts';
import { newInsideTransfers } from './store.ts';
import {
  newGroupId,
  sideIds,
  TRANSFER_SPACE,
  type Transfer,
  type TransferType,
  transferText,
} from './transfer.ts';

/** Transfers inside the service: both sides are posted and completed in one transaction, without a fee. */
export type InsideKind = 'PLATFORM' | 'INTERNAL';

type Request = Static<typeof PlatformTransferRequest>;

/** The cheapest check first; visibility before permission. */
function insideFault(
  kind: InsideKind,
  caller: Caller,
  request: Request,
  view: View,
  tables: TransferTables,
): Problem | undefined {
  const { from_profile_id: fromId, to_profile_id: toId } = request;
  const from = view.row(tables.profiles, fromId);
  const to = view.row(tables.profiles, toId);
  if (from?.customerId !== caller.customerId) return notFound('profile', fromId);
  // Only a platform transfer can pay a profile of another customer.
  if (kind === 'INTERNAL' && to?.customerId !== caller.customerId) return notFound('profile', toId);
  return (
    disabledProblem(from) ??
    recipientProblem(to, toId, { customerId: caller.customerId, profileId: fromId }) ??
    endUserProblem(view, tables.endUsers, request, 'from_', caller.customerId) ??
    recipientEndUserProblem(view, tables, request, caller, to!.customerId)
  );
}

/** The receiving end user. What is wrong with one of another customer is not disclosed: the answer is that for an unknown id. */
function recipientEndUserProblem(
  view: View,
  tables: TransferTables,
  request: Request,
  caller: Caller,
  customerId: string,
): Problem | undefined {
  const problem = endUserProblem(view, tables.endUsers, request, 'to_', customerId);
  if (problem === undefined || problem.slug === 'not-found' || customerId === caller.customerId)
    return problem;
  return problem.meta.identity_id === undefined
    ? notFound('account', request.to_account_id!)
    : notFound('identity', request.to_identity_id!);
}

/** Validates what depends only on the request. */
function readRequest(caller: Caller, request: Request, assets: Assets): bigint {
  const fields = createFields(assets);
  if (request.from_profile_id === request.to_profile_id) {
    fields.fault('/to_profile_id', 'must differ from from_profile_id');
  }
  requireForThirdParty(fields, caller, request, ['from_account_id', 'to_account_id']);
  const units = fields.amount('/amount', request.amount, fields.asset('/asset', request.asset));
  fields.check();
  return units!;
}

/** The fields are written in sorted order, so that the hot path does not sort them. */
function keyOf(
  kind: InsideKind,
  caller: Caller,
  request: Request,
  amount: string,
  resourceId: string,
): IdempotencyKey | undefined {
  const refId = request.ref_id;
  if (refId === undefined) return undefined;
  const fields = {
    amount,
    asset: request.asset,
    from_account_id: request.from_account_id,
    from_identity_id: request.from_identity_id,
    from_profile_id: request.from_profile_id,
    metadata: request.metadata,
    operation: kind,
    recipient_metadata: request.recipient_metadata,
    ref_id: refId,
    to_account_id: request.to_account_id,
    to_identity_id: request.to_identity_id,
    to_profile_id: request.to_profile_id,
  } satisfies Record<keyof Request | 'operation', unknown>;
  const { customerId } = caller;
  return { customerId, space: TRANSFER_SPACE, refId, resourceId, request: fields };
}

type Sides = { debit: Transfer; credit: Transfer };

/** The credit side belongs to the recipient: it does not show the sender's ref_id, metadata or identity. */
function sidesOf(
  kind: InsideKind,
  request: Request,
  units: bigint,
  ids: { group: string; debit: string; credit: string },
  owners: { from: string; to: string },
  view: Pick<View, 'recordedAt' | 'batchId'>,
): Sides {
  const common = {
    status: 'COMPLETED',
    asset: request.asset,
    amountUnits: units,
    feeUnits: 0n,
    balanceAsset: request.asset,
    balanceUnits: units,
    createdAtNs: view.recordedAt,
    updatedAtNs: view.recordedAt,
    groupId: ids.group,
    batchId: view.batchId,
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

/** Answers with the debit side as JSON, as users see it. */
export function insideTransferCommand(
  kind: InsideKind,
  caller: Caller,
  request: Request,
  tables: TransferTables,
  /** Of the group of both sides. */
  group = newGroupId(),
): Command<string> {
  const { assets, profiles, endUsers } = tables;
  const { asset, from_profile_id: fromId, to_profile_id: toId } = request;
  const units = readRequest(caller, request, assets);
  const [debitId, creditId] = sideIds(group);
  const ids = { group, debit: debitId, credit: creditId };
  return {
    actor: actorOf(caller),
    optimistic: true,
    customerId: caller.customerId,
    key: keyOf(kind, caller, request, assets.format(asset, units), ids.debit),
    balances: [
      { profileId: fromId, asset },
      { profileId: toId, asset },
    ],
    reads: [
      read(profiles, fromId),
      read(profiles, toId),
      ...endUserReads(endUsers, request, 'from_'),
      ...endUserReads(endUsers, request, 'to_'),
    ],
    decide(view) {
      const fault = insideFault(kind, caller, request, view, tables);
      if (fault !== undefined) return refuse(fault);
      const owners = { from: caller.customerId, to: view.row(profiles, toId)!.customerId };
      const { debit, credit } = sidesOf(kind, request, units, ids, owners, view);
      const debitText = transferText(debit, assets);
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
          write(newInsideTransfers, debit.id, debit),
          write(newInsideTransfers, credit.id, credit),
          transferEvent(debit, assets, debitText),
          transferEvent(credit, assets),
        ],
        answer: debitText,
      };
    },
  };
}
