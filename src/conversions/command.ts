import type { Static } from 'typebox';
import { event } from '../events/outbox.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Asset, Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, type Posting, read, refuse, type Table, write } from '../ledger/command.ts';
import {
  endUserProblem,
  endUserReads,
  ownProfileProblem,
  requireForThirdParty,
  type TransferTables,
} from '../transfers/request.ts';
import { CONVERSION_SPACE, type Conversion, presentConversion } from './conversion.ts';
import { CONVERSION_EVENTS } from './event-types.ts';
import type { ConversionRequest } from './schema.ts';

export type ConversionTables = Pick<TransferTables, 'assets' | 'profiles' | 'endUsers'> & {
  readonly newConversions: Table<Conversion>;
};

type Request = Static<typeof ConversionRequest>;

const USD = 'USD';

function isPair(source: Asset, target: Asset): boolean {
  const [coin, other] = source.operatorMinted === true ? [source, target] : [target, source];
  return coin.operatorMinted === true && other.code === USD;
}

/** The amount in units of both assets: more decimals than either has are refused, never rounded. */
function readAmount(fields: Fields, amount: string, source: Asset, target: Asset) {
  const coarse = source.decimals <= target.decimals ? source : target;
  const units = fields.amount('/amount', amount, coarse.code);
  if (units === undefined) return undefined;
  const inUnitsOf = ({ decimals }: Asset): bigint => units * 10n ** BigInt(decimals - coarse.decimals);
  return {
    sourceUnits: inUnitsOf(source),
    sourceDecimals: source.decimals,
    targetUnits: inUnitsOf(target),
    targetDecimals: target.decimals,
  };
}

/** Validates what depends only on the request. */
function readRequest(caller: Caller, request: Request, assets: Assets) {
  const fields = createFields(assets);
  requireForThirdParty(fields, caller, request, ['identity_id', 'account_id']);
  fields.asset('/source_asset', request.source_asset);
  fields.asset('/target_asset', request.target_asset);
  const [source, target] = [assets.find(request.source_asset), assets.find(request.target_asset)];
  const isKnown = source !== undefined && target !== undefined;
  if (isKnown && !isPair(source, target))
    fields.fault(
      '/target_asset',
      `must be ${USD} or the operator's own stablecoin, and source_asset the other of the two`,
    );
  const units = isKnown ? readAmount(fields, request.amount, source, target) : undefined;
  fields.check();
  return units!;
}

/** Both postings have the account `conversion` on the other side, which shows what was exchanged. */
function postingsOf({
  profileId,
  sourceAsset,
  sourceUnits,
  targetAsset,
  targetUnits,
}: Conversion): Posting[] {
  const available = { profileId, account: 'available' } as const;
  const conversion = { account: 'conversion' } as const;
  return [
    { asset: sourceAsset, units: sourceUnits, from: available, to: conversion },
    { asset: targetAsset, units: targetUnits, from: conversion, to: available },
  ];
}

export function conversionCommand(
  caller: Caller,
  request: Request,
  { assets, profiles, endUsers, newConversions }: ConversionTables,
): Command<Conversion> {
  const { customerId } = caller;
  const {
    profile_id: profileId,
    source_asset: sourceAsset,
    target_asset: targetAsset,
    ref_id: refId,
  } = request;
  const units = readRequest(caller, request, assets);
  const id = newId();
  const normalised = { ...request, amount: assets.format(sourceAsset, units.sourceUnits) };
  return {
    actor: actorOf(caller),
    customerId,
    key:
      refId === undefined
        ? undefined
        : { customerId, space: CONVERSION_SPACE, refId, resourceId: id, request: normalised },
    balances: [
      { profileId, asset: sourceAsset },
      { profileId, asset: targetAsset },
    ],
    reads: [read(profiles, profileId), ...endUserReads(endUsers, request, '')],
    decide(view) {
      const fault =
        ownProfileProblem(view, profiles, profileId, customerId) ??
        endUserProblem(view, endUsers, request, '', customerId);
      if (fault !== undefined) return refuse(fault);
      const conversion: Conversion = {
        id,
        customerId,
        profileId,
        sourceAsset,
        targetAsset,
        ...units,
        refId: refId ?? null,
        identityId: request.identity_id ?? null,
        accountId: request.account_id ?? null,
        metadata: request.metadata ?? null,
        createdAtNs: view.recordedAt,
      };
      const { settled } = CONVERSION_EVENTS.types;
      return {
        accepted: true,
        causeId: id,
        postings: postingsOf(conversion),
        writes: [
          write(newConversions, id, conversion),
          event(settled, customerId, id, view.recordedAt, presentConversion(conversion, assets)),
        ],
        answer: conversion,
      };
    },
  };
}
