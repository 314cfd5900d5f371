import type { FeeSchedule } from '../fees/schedule.ts';
import { canonicalAddress, canonicalTxHash } from '../kernel/address.ts';
import type { Assets } from '../kernel/asset.ts';
import { canonicalRequest } from '../kernel/canonical.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  type Command,
  type Decision,
  type IdempotencyKey,
  read,
  refuse,
  type Table,
  write,
} from '../ledger/command.ts';
import type { ProfileFacts } from '../profiles/profile.ts';
import type { ArrivedDeposit, RailName } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import { notionalValue, type PriceSource } from '../transfers/prices.ts';
import { clearingAccount, FIAT_RAILS } from '../transfers/rails.ts';
import { disabledProblem } from '../transfers/request.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type DepositOwner, normalisedMemo } from './way.ts';

/** A deposit that nobody could be credited with. */
export type SuspenseDeposit = {
  readonly id: string;
  readonly rail: string;
  readonly reference: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  readonly sentTo: string;
  readonly reason: string;
  readonly createdAtNs: Instant;
  readonly transferId: string | null;
};

export type ArrivalTables = {
  readonly assets: Assets;
  readonly schedule: FeeSchedule;
  readonly prices: PriceSource;
  readonly profiles: Table<ProfileFacts>;
  readonly newTransfers: Table<Transfer>;
  readonly suspenseDeposits: Table<SuspenseDeposit>;
};

export type Arrival =
  | { readonly transfer: Transfer; readonly suspense?: undefined }
  | { readonly suspense: SuspenseDeposit; readonly transfer?: undefined };

/** No customer's: arrivals are unique in the whole service. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Outputs have numbers on some chains; on others, the address that is paid tells them apart. */
const isNumber = (txIndex: string): boolean => /^[0-9]+$/.test(txIndex);

/** In one form, however the rail wrote it: the same output twice would otherwise be two. */
function inOneForm(arrived: ArrivedDeposit): ArrivedDeposit {
  if (!('txHash' in arrived)) return arrived;
  const { rail, txHash, txIndex, address } = arrived;
  return {
    ...arrived,
    txHash: canonicalTxHash(rail, txHash),
    txIndex: isNumber(txIndex) ? txIndex : canonicalAddress(rail, txIndex),
    address: canonicalAddress(rail, address),
  };
}

/** The output on the chain, or the bank's own reference. */
function arrivalReference(arrived: ArrivedDeposit): string {
  return 'txHash' in arrived ? `${arrived.txHash}:${arrived.txIndex}` : arrived.reference;
}

function sentTo(arrived: ArrivedDeposit): string {
  return 'txHash' in arrived ? arrived.address : arrived.memoId;
}

/** What tells one arrival from another. One transaction may pay several assets to one address. */
function arrivalKey(arrived: ArrivedDeposit, resourceId: string): IdempotencyKey {
  const { rail, asset, amountUnits } = arrived;
  const isByAddress = 'txHash' in arrived && !isNumber(arrived.txIndex);
  const to = 'txHash' in arrived ? arrived.address : normalisedMemo(arrived.memoId);
  return {
    customerId: NOBODY,
    space: `arrivals:${rail}`,
    refId: isByAddress ? `${arrivalReference(arrived)}:${asset}` : arrivalReference(arrived),
    resourceId,
    request: canonicalRequest({ asset, amount_units: amountUnits.toString(), sent_to: to }),
  };
}

type Rail = { readonly rail: RailName };

function wayFields(arrived: ArrivedDeposit, price: string | undefined) {
  if (!('txHash' in arrived)) return { memo: arrived.memoId };
  return {
    cryptoNetwork: arrived.rail,
    cryptoTxHash: arrived.txHash,
    cryptoTxIndex: arrived.txIndex,
    destinationAddress: arrived.address,
    notionalValue: price ?? null,
  };
}

function depositOf(
  id: string,
  arrived: ArrivedDeposit,
  owner: DepositOwner,
  feeUnits: bigint,
  now: Instant,
): Transfer {
  const { asset, amountUnits } = arrived;
  return {
    id,
    customerId: owner.customerId,
    profileId: owner.profileId,
    type: 'txHash' in arrived ? 'CRYPTO_DEPOSIT' : FIAT_RAILS[arrived.rail].depositType,
    direction: 'CREDIT',
    status: 'COMPLETED',
    asset,
    amountUnits,
    feeUnits,
    balanceAsset: asset,
    balanceUnits: amountUnits - feeUnits,
    createdAtNs: now,
    updatedAtNs: now,
    identityId: owner.identityId,
    accountId: owner.accountId,
    metadata: owner.metadata,
  };
}

function credit(transfer: Transfer, { rail }: Rail, tables: ArrivalTables): Decision<Arrival> {
  const { id, asset, profileId, balanceUnits, feeUnits } = transfer;
  const from = clearingAccount(rail);
  return {
    accepted: true,
    causeId: id,
    postings: [
      { asset, units: balanceUnits, from, to: { profileId, account: 'available' } },
      ...(feeUnits > 0n ? [{ asset, units: feeUnits, from, to: { account: 'fees' } as const }] : []),
    ],
    writes: [write(tables.newTransfers, id, transfer), transferEvent(transfer, tables.assets)],
    answer: { transfer },
  };
}

function suspend(id: string, arrived: ArrivedDeposit, reason: string, now: Instant, tables: ArrivalTables) {
  const { rail, asset, amountUnits } = arrived;
  const suspense: SuspenseDeposit = {
    id,
    rail,
    reference: arrivalReference(arrived),
    asset,
    amountUnits,
    sentTo: sentTo(arrived),
    reason,
    createdAtNs: now,
    transferId: null,
  };
  return {
    accepted: true as const,
    causeId: id,
    postings: [
      { asset, units: amountUnits, from: clearingAccount(rail), to: { account: 'suspense' } as const },
    ],
    writes: [write(tables.suspenseDeposits, id, suspense)],
    answer: { suspense },
  };
}

/**
 * Value arrived, and cannot be refused: it is credited to whoever it is for, or kept in suspense. Once for one output
 * or reference, however often, from however many nodes it is reported.
 */
export function arrivalCommand(
  reported: ArrivedDeposit,
  owner: DepositOwner | undefined,
  tables: ArrivalTables,
): Command<Arrival> {
  const arrived = inOneForm(reported);
  const { assets, schedule, prices, profiles } = tables;
  const { rail, asset, amountUnits } = arrived;
  const id = newId();
  const feeUnits = schedule.deposit(rail, asset);
  const price = notionalValue(prices.find(asset), assets, asset, amountUnits);
  return {
    key: arrivalKey(arrived, id),
    balances: owner === undefined ? [] : [{ profileId: owner.profileId, asset }],
    reads: owner === undefined ? [] : [read(profiles, owner.profileId)],
    decide(view) {
      const keep = (reason: string): Decision<Arrival> =>
        suspend(id, arrived, reason, view.recordedAt, tables);
      if (owner === undefined) return keep('Nobody was given this address or memo.');
      if (view.row(profiles, owner.profileId)?.status !== 'ACTIVE') return keep('The profile is disabled.');
      if (amountUnits <= feeUnits) {
        return keep(`The fee of ${assets.format(asset, feeUnits)} ${asset} leaves nothing to credit.`);
      }
      const transfer = {
        ...depositOf(id, arrived, owner, feeUnits, view.recordedAt),
        ...wayFields(arrived, price),
      };
      return credit(transfer, arrived, tables);
    },
  };
}

/** An operator knows whose it is. All of it is credited. */
export function creditSuspenseCommand(
  seen: SuspenseDeposit,
  profileId: string,
  tables: ArrivalTables,
): Command<Transfer> {
  const { profiles, suspenseDeposits, assets } = tables;
  const id = newId();
  return {
    balances: [{ profileId, asset: seen.asset }],
    reads: [read(profiles, profileId), read(suspenseDeposits, seen.id)],
    decide(view) {
      const suspense = view.row(suspenseDeposits, seen.id);
      if (suspense === undefined) return refuse(notFound('suspense deposit', seen.id));
      if (suspense.transferId !== null) {
        const detail = `It was credited as the transfer ${suspense.transferId}.`;
        return refuse(new Problem('invalid-state', detail, { status: 'CREDITED' }));
      }
      const profile = view.row(profiles, profileId);
      if (profile === undefined) return refuse(notFound('profile', profileId));
      const disabled = disabledProblem(profile);
      if (disabled !== undefined) return refuse(disabled);
      const { customerId } = profile;
      const { asset, amountUnits: units } = suspense;
      const owner = { customerId, profileId, identityId: null, accountId: null, metadata: null };
      const transfer = depositOf(id, arrivedAgain(suspense), owner, 0n, view.recordedAt);
      return {
        accepted: true,
        causeId: id,
        postings: [{ asset, units, from: { account: 'suspense' }, to: { profileId, account: 'available' } }],
        writes: [
          write(tables.newTransfers, id, transfer),
          write(suspenseDeposits, suspense.id, { ...suspense, transferId: id }),
          transferEvent(transfer, assets),
        ],
        answer: transfer,
      };
    },
  };
}

/** As much of the arrival as the record keeps. */
function arrivedAgain({ rail, reference, asset, amountUnits, sentTo: to }: SuspenseDeposit): ArrivedDeposit {
  if (Object.hasOwn(FIAT_RAILS, rail)) {
    return { rail, reference, memoId: to, asset, amountUnits } as ArrivedDeposit;
  }
  const colon = reference.lastIndexOf(':');
  const [txHash, txIndex] = [reference.slice(0, colon), reference.slice(colon + 1)];
  return { rail, txHash, txIndex, address: to, asset, amountUnits } as ArrivedDeposit;
}

export function presentSuspense(suspense: SuspenseDeposit, assets: Assets) {
  const { id, rail, reference, asset, amountUnits, reason, transferId } = suspense;
  return {
    id,
    rail,
    reference,
    asset,
    amount: assets.format(asset, amountUnits),
    sent_to: suspense.sentTo,
    reason,
    created_at: formatInstant(suspense.createdAtNs),
    ...(transferId !== null && { transfer_id: transferId }),
  };
}
