import { notionalValue, type PriceSource } from '../fees/prices.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import { UNITS_MAX } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { disabledProblem, type ProfileFacts } from '../kernel/profile-facts.ts';
import {
  type Command,
  type Decision,
  read,
  refuse,
  type Table,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { CRYPTO_TRANSFER_TYPES } from '../networks/crypto.ts';
import type { Networks, TransferType } from '../networks/register.ts';
import type { ArrivedDeposit, RailName } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type ArrivalRecord, type Became, keysOf, outputText, recordOf, referenceOf } from './identity.ts';
import type { DepositOwner } from './target.ts';

/** A deposit that could not be credited; an operator has to investigate. */
export type SuspenseDeposit = {
  readonly id: string;
  readonly rail: string;
  /** The operator's own bank account; null on a chain, and for deposits that were recorded without one. */
  readonly account: string | null;
  readonly reference: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  readonly sentTo: string;
  readonly reason: string;
  readonly createdAtNs: Instant;
  readonly transferId: string | null;
  /** Whether its value was posted to the account `suspense`. */
  readonly booked: boolean;
};

export type ArrivalTables = {
  readonly assets: Assets;
  readonly networks: Networks;
  readonly schedule: FeeSchedule;
  readonly prices: PriceSource;
  readonly profiles: Table<ProfileFacts>;
  readonly newTransfers: Table<Transfer>;
  readonly suspenseDeposits: Table<SuspenseDeposit>;
  readonly arrivalRecords: Table<ArrivalRecord>;
};

export type Arrival =
  | { readonly transfer: Transfer; readonly suspense?: undefined }
  | { readonly suspense: SuspenseDeposit; readonly transfer?: undefined };

/** The answer of the command: the new transfer or suspense deposit, or the record of an earlier report. */
export type Taken =
  | { readonly arrival: Arrival; readonly known?: undefined }
  | { readonly known: ArrivalRecord; readonly arrival?: undefined };

/** The fields of a deposit that the ledger needs. */
type Value = { readonly rail: string; readonly asset: string; readonly amountUnits: bigint };

function originFields(arrived: ArrivedDeposit, price: string | undefined) {
  if (!('txHash' in arrived)) return { memo: arrived.memoId };
  return {
    cryptoNetwork: arrived.rail,
    cryptoTxHash: arrived.txHash,
    cryptoTxIndex: outputText(arrived),
    destinationAddress: arrived.address,
    notionalValue: price ?? null,
  };
}

function depositTypeOf(rail: string, networks: Networks): TransferType {
  return networks.isFiatKind(rail) ? networks.fiat(rail).depositType : CRYPTO_TRANSFER_TYPES.deposit;
}

function depositOf(
  id: string,
  type: TransferType,
  { asset, amountUnits }: Value,
  owner: DepositOwner,
  feeUnits: bigint,
  now: Instant,
): Transfer {
  return {
    id,
    customerId: owner.customerId,
    profileId: owner.profileId,
    type,
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

/** The row that ensures that a deposit is credited once. Written under both keys, so that later commands of the batch find it. */
function recorded(arrived: ArrivedDeposit, became: Became, tables: ArrivalTables): Write[] {
  const record = recordOf(arrived, became);
  return Object.values(keysOf(arrived)).map((key) => write(tables.arrivalRecords, key, record));
}

function credit(transfer: Transfer, arrived: ArrivedDeposit, tables: ArrivalTables): Decision<Taken> {
  const { id, asset, profileId, balanceUnits, feeUnits } = transfer;
  const from = clearingAccount(arrived.rail);
  return {
    accepted: true,
    causeId: id,
    postings: [
      { asset, units: balanceUnits, from, to: { profileId, account: 'available' } },
      ...(feeUnits > 0n ? [{ asset, units: feeUnits, from, to: { account: 'fees' } as const }] : []),
    ],
    writes: [
      write(tables.newTransfers, id, transfer),
      ...recorded(arrived, { transferId: id, suspenseId: null }, tables),
      transferEvent(transfer, tables.assets),
    ],
    answer: { arrival: { transfer } },
  };
}

function suspend(
  id: string,
  arrived: ArrivedDeposit,
  { reason, booked }: { readonly reason: string; readonly booked: boolean },
  now: Instant,
  tables: ArrivalTables,
): Decision<Taken> {
  const { rail, asset, amountUnits } = arrived;
  const suspense: SuspenseDeposit = {
    id,
    rail,
    account: 'txHash' in arrived ? null : arrived.account,
    reference: referenceOf(arrived),
    asset,
    amountUnits,
    sentTo: 'txHash' in arrived ? arrived.address : arrived.memoId,
    reason,
    createdAtNs: now,
    transferId: null,
    booked,
  };
  const [from, to] = [clearingAccount(rail), { account: 'suspense' } as const];
  return {
    accepted: true,
    causeId: id,
    postings: booked ? [{ asset, units: amountUnits, from, to }] : [],
    writes: [
      write(tables.suspenseDeposits, id, suspense),
      ...recorded(arrived, { transferId: null, suspenseId: id }, tables),
    ],
    answer: { arrival: { suspense } },
  };
}

/** Why the ledger cannot post the deposit. It is then recorded without postings, until an operator has solved the problem. */
function unbookable({ asset, amountUnits }: Value, assets: Assets): string | undefined {
  if (assets.find(asset) === undefined) return `The asset "${asset}" is not configured. Nothing was posted.`;
  if (amountUnits <= UNITS_MAX) return undefined;
  return 'The amount is larger than the ledger can hold. Nothing was posted.';
}

/**
 * The record of an earlier report: of the same deposit, or of the whole payment that a numbered output is part of. A rail
 * reports a payment by output or as a whole, never both.
 */
function knownAs(arrived: ArrivedDeposit, view: View, tables: ArrivalTables): ArrivalRecord | undefined {
  const { own, whole } = keysOf(arrived);
  const same = view.row(tables.arrivalRecords, own);
  if (same !== undefined || whole === undefined) return same;
  const all = view.row(tables.arrivalRecords, whole);
  return all?.output === null ? all : undefined;
}

/**
 * A deposit that has arrived cannot be refused: it is credited to its profile, or kept in suspense. This happens once for
 * each deposit, however often the rail reports it, and on however many nodes.
 */
export function arrivalCommand(
  /** Canonical, from `readArrived`. */
  arrived: ArrivedDeposit,
  owner: DepositOwner | undefined,
  tables: ArrivalTables,
): Command<Taken> {
  const { assets, schedule, prices, profiles } = tables;
  const { rail, asset, amountUnits } = arrived;
  const id = newId();
  const type = depositTypeOf(rail, tables.networks);
  const feeUnits = schedule.deposit(rail, asset);
  const obstacle = unbookable(arrived, assets);
  const price =
    obstacle === undefined ? notionalValue(prices.find(asset), assets, asset, amountUnits) : undefined;
  return {
    balances: owner === undefined ? [] : [{ profileId: owner.profileId, asset }],
    reads: [
      ...Object.values(keysOf(arrived)).map((key) => read(tables.arrivalRecords, key)),
      ...(owner === undefined ? [] : [read(profiles, owner.profileId)]),
    ],
    decide(view) {
      const known = knownAs(arrived, view, tables);
      if (known !== undefined) {
        return { accepted: true, causeId: id, postings: [], writes: [], answer: { known } };
      }
      const keep = (reason: string, booked = true): Decision<Taken> =>
        suspend(id, arrived, { reason, booked }, view.recordedAt, tables);
      if (obstacle !== undefined) return keep(obstacle, false);
      if (feeUnits === undefined) return keep(`${asset} is not configured for the ${rail} rail.`);
      if (owner === undefined) return keep('No profile has this address or memo.');
      if (view.row(profiles, owner.profileId)?.status !== 'ACTIVE') return keep('The profile is disabled.');
      if (amountUnits <= feeUnits) {
        return keep(`The fee of ${assets.format(asset, feeUnits)} ${asset} leaves nothing to credit.`);
      }
      const transfer = {
        ...depositOf(id, type, arrived, owner, feeUnits, view.recordedAt),
        ...originFields(arrived, price),
      };
      return credit(transfer, arrived, tables);
    },
  };
}

/** An operator credits a suspense deposit to a profile, without a fee. */
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
      const { asset, amountUnits: units, rail, booked } = suspense;
      if (assets.find(asset) === undefined) {
        const detail = `The asset "${asset}" is not configured: add it to the configuration file first.`;
        return refuse(new Problem('invalid-state', detail, { status: 'ASSET_NOT_CONFIGURED' }));
      }
      const owner = { customerId, profileId, identityId: null, accountId: null, metadata: null };
      const type = depositTypeOf(rail, tables.networks);
      const transfer = depositOf(id, type, suspense, owner, 0n, view.recordedAt);
      const from = booked ? ({ account: 'suspense' } as const) : clearingAccount(rail as RailName);
      return {
        accepted: true,
        causeId: id,
        postings: [{ asset, units, from, to: { profileId, account: 'available' } }],
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

export function presentSuspense(suspense: SuspenseDeposit, assets: Assets) {
  const { id, rail, account, reference, asset, amountUnits, reason, transferId } = suspense;
  return {
    id,
    rail,
    ...(account !== null && { account }),
    reference,
    asset,
    // The decimals of an asset that is not configured are unknown.
    ...(assets.find(asset) !== undefined && { amount: assets.format(asset, amountUnits) }),
    amount_units: amountUnits.toString(),
    sent_to: suspense.sentTo,
    reason,
    created_at: formatInstant(suspense.createdAtNs),
    ...(transferId !== null && { transfer_id: transferId }),
  };
}
