import { notionalValue, type PriceSource } from '../fees/prices.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import type { Actor } from '../kernel/actor.ts';
import { UNITS_MAX } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { ProfileFacts } from '../kernel/profile-facts.ts';
import {
  type Command,
  type Decision,
  type Read,
  read,
  type Table,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { CRYPTO_TRANSFER_TYPES } from '../networks/crypto.ts';
import type { Networks, TransferType } from '../networks/register.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type ArrivalRecord, type Became, keysOf, outputText, recordOf } from './identity.ts';
import { inSuspense, type SuspenseDeposit } from './suspense-deposit.ts';
import type { DepositOwner } from './target.ts';

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
  | { readonly transfer: Transfer }
  | { readonly suspense: SuspenseDeposit }
  /** An operator booked it by hand, as something else than a deposit. */
  | { readonly journalEntryId: string };

/** The answer of the command: the new transfer or suspense deposit, or the record of an earlier report. */
export type Taken =
  | { readonly arrival: Arrival; readonly known?: undefined }
  | { readonly known: ArrivalRecord; readonly arrival?: undefined };

/** The fields of a deposit that the ledger needs. */
type Value = { readonly rail: string; readonly asset: string; readonly amountUnits: bigint };

export function originFields(arrived: ArrivedDeposit, price: string | undefined) {
  if (!('txHash' in arrived)) return { memo: arrived.memoId };
  return {
    cryptoNetwork: arrived.rail,
    cryptoTxHash: arrived.txHash,
    cryptoTxIndex: outputText(arrived),
    destinationAddress: arrived.address,
    notionalValue: price ?? null,
  };
}

export function depositTypeOf(rail: string, networks: Networks): TransferType {
  return networks.isFiatKind(rail) ? networks.fiat(rail).depositType : CRYPTO_TRANSFER_TYPES.deposit;
}

export function depositOf(
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
export function recorded(
  arrived: ArrivedDeposit,
  became: Became,
  view: View,
  { arrivalRecords }: Pick<ArrivalTables, 'arrivalRecords'>,
): Write[] {
  const keys: string[] = Object.values(keysOf(arrived));
  const released = keys.map((key) => view.row(arrivalRecords, key)).find((row) => row?.isReleased === true);
  const replaces = released?.journalEntryId;
  const record = { ...recordOf(arrived, became), ...(replaces && { replaces }) };
  return keys.map((key) => write(arrivalRecords, key, record));
}

export function arrivalReads(
  arrived: ArrivedDeposit,
  { arrivalRecords }: Pick<ArrivalTables, 'arrivalRecords'>,
): Read[] {
  return Object.values(keysOf(arrived)).map((key: string) => read(arrivalRecords, key));
}

function credit(
  transfer: Transfer,
  arrived: ArrivedDeposit,
  view: View,
  tables: ArrivalTables,
): Decision<Taken> {
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
      ...recorded(arrived, { transferId: id }, view, tables),
      transferEvent(transfer, tables.assets),
    ],
    answer: { arrival: { transfer } },
  };
}

function suspend(
  id: string,
  arrived: ArrivedDeposit,
  { reason, booked }: { readonly reason: string; readonly booked: boolean },
  view: View,
  tables: ArrivalTables,
): Decision<Taken> {
  const { rail, asset, amountUnits } = arrived;
  const suspense: SuspenseDeposit = { ...inSuspense(id, arrived, reason, view.recordedAt), booked };
  const [from, to] = [clearingAccount(rail), { account: 'suspense' } as const];
  return {
    accepted: true,
    causeId: id,
    postings: booked ? [{ asset, units: amountUnits, from, to }] : [],
    writes: [
      write(tables.suspenseDeposits, id, suspense),
      ...recorded(arrived, { suspenseId: id }, view, tables),
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
export function knownAs(
  arrived: ArrivedDeposit,
  view: View,
  { arrivalRecords }: Pick<ArrivalTables, 'arrivalRecords'>,
): ArrivalRecord | undefined {
  const rowOf = (key: string): ArrivalRecord | undefined => {
    const row = view.row(arrivalRecords, key);
    return row?.isReleased === true ? undefined : row;
  };
  const { own, whole } = keysOf(arrived);
  const same = rowOf(own);
  if (same !== undefined || whole === undefined) return same;
  const all = rowOf(whole);
  return all?.output === null ? all : undefined;
}

/**
 * A deposit that has arrived cannot be refused: it is credited to its profile, or kept in suspense. This happens once for
 * each deposit, however often the rail reports it, and on however many nodes.
 */
export function arrivalCommand(
  actor: Actor,
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
    actor,
    balances: owner === undefined ? [] : [{ profileId: owner.profileId, asset }],
    reads: [
      ...arrivalReads(arrived, tables),
      ...(owner === undefined ? [] : [read(profiles, owner.profileId)]),
    ],
    decide(view) {
      const known = knownAs(arrived, view, tables);
      if (known !== undefined) {
        return { accepted: true, causeId: id, postings: [], writes: [], answer: { known } };
      }
      const keep = (reason: string, booked = true): Decision<Taken> =>
        suspend(id, arrived, { reason, booked }, view, tables);
      if (obstacle !== undefined) return keep(obstacle, false);
      if (feeUnits === undefined) return keep(`${asset} is not configured for the ${rail} rail.`);
      if (owner === undefined) return keep('No profile has this address or memo.');
      // A frozen profile is credited: what arrives cannot be refused, and the profile cannot use it.
      if (view.row(profiles, owner.profileId)?.status === 'DISABLED') return keep('The profile is disabled.');
      if (amountUnits <= feeUnits) {
        return keep(`The fee of ${assets.format(asset, feeUnits)} ${asset} leaves nothing to credit.`);
      }
      const transfer = {
        ...depositOf(id, type, arrived, owner, feeUnits, view.recordedAt),
        ...originFields(arrived, price),
      };
      return credit(transfer, arrived, view, tables);
    },
  };
}
