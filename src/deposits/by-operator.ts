import { notionalValue } from '../fees/prices.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';
import { type Table, type View, write } from '../ledger/command.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import type { Movement } from '../transfers/movement.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type ArrivalTables, depositOf, depositTypeOf, knownAs, originFields, recorded } from './arrival.ts';
import { type ArrivalRecord, referenceOf } from './identity.ts';
import { accountOf, type SuspenseDeposit } from './suspense-deposit.ts';
import type { DepositOwner } from './target.ts';

/** Deposits that an operator books: their rules, for commands of the journal. They have no fee. */

/** Where a deposit came from: what the rail reported, or what an operator booked. These never change. */
export type DepositOrigins = {
  suspense(id: string): Promise<SuspenseDeposit | undefined>;
  /** The suspense deposit that the transfer credited. */
  suspenseOf(transferId: string): Promise<SuspenseDeposit | undefined>;
  arrivalOf(by: 'transfer_id' | 'journal_entry_id', id: string): Promise<ArrivalRecord | undefined>;
};

/** The profile must exist and be active. */
function ownerOf(
  view: View,
  profileId: string,
  { profiles }: Pick<ArrivalTables, 'profiles'>,
): DepositOwner | Problem {
  const profile = view.row(profiles, profileId);
  if (profile === undefined) return notFound('profile', profileId);
  const { customerId } = profile;
  return (
    disabledProblem(profile) ?? { customerId, profileId, identityId: null, accountId: null, metadata: null }
  );
}

/** The deposit, if it is still in suspense. */
export function openSuspense(
  view: View,
  id: string,
  { suspenseDeposits }: { readonly suspenseDeposits: Table<SuspenseDeposit> },
): SuspenseDeposit | Problem {
  const suspense = view.row(suspenseDeposits, id);
  if (suspense === undefined) return notFound('suspense deposit', id);
  const { transferId, returnedBy } = suspense;
  if (transferId !== null) {
    return new Problem('invalid-state', `It was credited as the transfer ${transferId}.`, {
      status: 'CREDITED',
    });
  }
  if (returnedBy === null) return suspense;
  return new Problem('invalid-state', `It was returned by the journal entry ${returnedBy}.`, {
    status: 'RETURNED',
  });
}

/** Credits a suspense deposit to a profile. */
export function creditSuspense(
  view: View,
  order: { readonly suspenseId: string; readonly profileId: string; readonly transferId: string },
  tables: ArrivalTables,
): Movement | Problem {
  const { suspenseDeposits, newTransfers, assets } = tables;
  const { profileId, transferId: id } = order;
  const suspense = openSuspense(view, order.suspenseId, tables);
  if (suspense instanceof Problem) return suspense;
  const owner = ownerOf(view, profileId, tables);
  if (owner instanceof Problem) return owner;
  const { asset, amountUnits: units, rail } = suspense;
  if (assets.find(asset) === undefined) {
    const detail = `The asset "${asset}" is not configured: add it to the configuration file first.`;
    return new Problem('invalid-state', detail, { status: 'ASSET_NOT_CONFIGURED' });
  }
  const type = depositTypeOf(rail, tables.networks);
  const transfer = depositOf(id, type, suspense, owner, 0n, view.recordedAt);
  return {
    transfer,
    postings: [{ asset, units, from: accountOf(suspense), to: { profileId, account: 'available' } }],
    writes: [
      write(newTransfers, id, transfer),
      write(suspenseDeposits, suspense.id, { ...suspense, transferId: id }),
      transferEvent(transfer, assets),
    ],
  };
}

/** The money was booked before: by a report of the rail, or by hand. */
export function bookedProblem(arrived: ArrivedDeposit, known: ArrivalRecord): Problem {
  const { transferId, suspenseId, journalEntryId } = known;
  const existing = {
    ...(transferId !== null && { transfer_id: transferId }),
    ...(suspenseId !== null && { suspense_deposit_id: suspenseId }),
    ...(journalEntryId !== null && { journal_entry_id: journalEntryId }),
  };
  const became =
    transferId !== null
      ? `transfer ${transferId}`
      : suspenseId !== null
        ? `suspense deposit ${suspenseId}`
        : `journal entry ${journalEntryId}`;
  return new Problem(
    'already-exists',
    `The reference ${referenceOf(arrived)} on ${arrived.rail} is booked already, as the ${became}.`,
    { existing, differs: ['ref_id'] },
  );
}

/** Books a deposit that no rail has reported, or will report. The report of a rail then finds it. */
export function creditByHand(
  view: View,
  order: {
    /** Canonical, from `readArrived`. */
    readonly arrived: ArrivedDeposit;
    readonly profileId: string;
    readonly transferId: string;
    readonly journalEntryId: string;
  },
  tables: ArrivalTables,
): Movement | Problem {
  const { assets, networks, prices } = tables;
  const { arrived, profileId, transferId, journalEntryId } = order;
  const { rail, asset, amountUnits: units } = arrived;
  const known = knownAs(arrived, view, tables);
  if (known !== undefined) return bookedProblem(arrived, known);
  const owner = ownerOf(view, profileId, tables);
  if (owner instanceof Problem) return owner;
  const transfer: Transfer = {
    ...depositOf(transferId, depositTypeOf(rail, networks), arrived, owner, 0n, view.recordedAt),
    ...('txHash' in arrived &&
      originFields(arrived, notionalValue(prices.find(asset), assets, asset, units))),
  };
  return {
    transfer,
    postings: [{ asset, units, from: clearingAccount(rail), to: { profileId, account: 'available' } }],
    writes: [
      write(tables.newTransfers, transferId, transfer),
      ...recorded(arrived, { transferId, journalEntryId }, view, tables),
      transferEvent(transfer, assets),
    ],
  };
}
