import { arrivalReads, knownAs, recorded } from '../deposits/arrival.ts';
import { bookedProblem, creditByHand } from '../deposits/by-operator.ts';
import { inSuspense } from '../deposits/suspense-deposit.ts';
import { createFields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';
import { type AccountRef, type Posting, read, type View, type Write, write } from '../ledger/command.ts';
import type { ArrivedDeposit, RailName } from '../rails/rail.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { withReturned } from '../withdrawals/by-operator.ts';
import type { JournalEntry } from './entry.ts';
import { type OrderOf, readMoney } from './order.ts';
import { balancesOf, type Effect, type Parts, type Plan, reversalKey } from './plan.ts';
import { railOfWithdrawal } from './targets.ts';

/**
 * Money from outside that an operator books: opening balances, deposits by hand, the operator's own money, and returns. Each is
 * an arrival with the identity that a rail would report, so the same money is booked once: by hand, by a rail, or neither.
 */

/** What the entry shows about it. */
function originOf(arrived: ArrivedDeposit): Partial<JournalEntry> {
  const { rail, asset, amountUnits } = arrived;
  return 'txHash' in arrived
    ? { rail, asset, amountUnits, account: arrived.address, output: arrived.output }
    : { rail, asset, amountUnits, account: arrived.account };
}

export function manualDepositPlan(id: string, order: OrderOf<'MANUAL_DEPOSIT'>, { tables }: Parts): Plan {
  const { arrived, profileId, asset } = order;
  const transferId = newId();
  return {
    balances: [{ profileId, asset }],
    reads: [read(tables.profiles, profileId), ...arrivalReads(arrived, tables)],
    decide(view) {
      const credited = { arrived, profileId, transferId, journalEntryId: id };
      const through = creditByHand(view, credited, tables);
      if (through instanceof Problem) return through;
      return { through, entry: { ...originOf(arrived), transferId } };
    },
  };
}

export function openingBalancePlan(
  id: string,
  order: OrderOf<'OPENING_BALANCE' | 'TREASURY_FUNDING'>,
  { tables }: Parts,
): Plan {
  const { arrived, asset, units } = order;
  const profileId = order.kind === 'OPENING_BALANCE' ? order.profileId : undefined;
  const to: AccountRef = profileId ? { profileId, account: 'available' } : { account: 'treasury' };
  const postings: Posting[] = [{ asset, units, from: clearingAccount(arrived.rail), to }];
  return {
    balances: balancesOf(postings),
    reads: arrivalReads(arrived, tables),
    watched: profileId === undefined ? [{ account: 'treasury', asset, hasFloor: true }] : [],
    decide(view) {
      const known = knownAs(arrived, view, tables);
      if (known !== undefined) return bookedProblem(arrived, known);
      if (profileId !== undefined) {
        const profile = view.row(tables.profiles, profileId);
        if (profile === undefined) return notFound('profile', profileId);
        const disabled = disabledProblem(profile);
        if (disabled !== undefined) return disabled;
      }
      const writes = recorded(arrived, { journalEntryId: id }, view, tables);
      return { postings, writes, entry: originOf(arrived) };
    },
  };
}

/** In the asset that was debited: a withdrawal that converted converts back, one to one. */
function returnPostings(
  transfer: Transfer,
  rail: RailName,
  units: bigint,
  { tables }: Parts,
): Posting[] | Problem {
  const { asset, balanceAsset, profileId } = transfer;
  const to = { profileId, account: 'available' } as const;
  const from = clearingAccount(rail);
  if (balanceAsset === asset) return [{ asset, units, from, to }];
  const conversion = { account: 'conversion' } as const;
  const text = tables.assets.format(asset, units);
  const back = tables.assets.parse(balanceAsset, text);
  if (!back.ok) {
    const { decimals } = tables.assets.get(balanceAsset);
    const message = `must be an amount of ${balanceAsset}, which was debited: ${back.message}`;
    return new Problem('exceeds-precision', `amount ${message}.`, {
      asset: balanceAsset,
      max_decimals: decimals,
      errors: [{ pointer: '/amount', message }],
    });
  }
  return [
    { asset, units, from, to: conversion },
    { asset: balanceAsset, units: back.units, from: conversion, to },
  ];
}

function returnFault(transfer: Transfer, { id, asset }: { id: string; asset: string }): Problem | undefined {
  if (asset !== transfer.asset) {
    return invalidField('/asset', `must be ${transfer.asset}, the asset of the withdrawal`);
  }
  if (transfer.status === 'COMPLETED') return undefined;
  const advice =
    transfer.status === 'PENDING'
      ? 'Resolve it as not paid instead.'
      : 'Its total has returned already: correct it instead, if money arrived.';
  return new Problem('invalid-state', `Withdrawal ${id} is ${transfer.status}. ${advice}`, {
    status: transfer.status,
  });
}

type Return = {
  readonly id: string;
  readonly order: OrderOf<'WITHDRAWAL_RETURN'>;
  readonly transfer: Transfer;
  readonly arrived: ArrivedDeposit;
  readonly postings: readonly Posting[];
  /** The suspense deposit that it becomes if the profile cannot be credited. */
  readonly suspenseId: string;
};

/** Adds it to what came back before: at most the amount of the withdrawal. */
function addReturn({ order, transfer }: Return, view: View, { tables }: Parts): Write[] | Problem {
  const { id: transferId, amountUnits, asset } = transfer;
  const { assets, withdrawalReturns, withdrawals } = tables;
  if (view.row(tables.journalEntries, reversalKey(transferId)) !== undefined) {
    return new Problem('invalid-state', `Withdrawal ${transferId} was reversed: nothing can come back.`, {
      status: 'REVERSED',
    });
  }
  const before = view.row(withdrawalReturns, transferId)?.returnedUnits ?? 0n;
  const returnedUnits = before + order.units;
  if (returnedUnits > amountUnits) {
    const [amount, gone, asked] = [amountUnits, before, order.units].map((one) => assets.format(asset, one));
    return invalidField(
      '/amount',
      `is more than can come back: the withdrawal paid ${amount} ${asset}, ${gone} came back before, ${asked} were booked now`,
    );
  }
  const current = view.row(withdrawals.transfers, transferId)!;
  return [
    write(withdrawalReturns, transferId, { transferId, amountUnits, returnedUnits }),
    write(withdrawals.transfers, transferId, withReturned(current, returnedUnits, view.recordedAt, assets)),
  ];
}

/** A profile that cannot be credited: the money is kept in suspense, and credited from there later. */
function returnToSuspense(
  { id, transfer, arrived, suspenseId }: Return,
  view: View,
  { tables }: Parts,
): Effect {
  const reason = `The withdrawal ${transfer.id} came back, and its profile is disabled.`;
  const suspense = { ...inSuspense(suspenseId, arrived, reason, view.recordedAt), journalEntryId: id };
  const { asset, amountUnits: units, rail } = arrived;
  return {
    postings: [{ asset, units, from: clearingAccount(rail), to: { account: 'suspense' } }],
    writes: [
      write(tables.suspenseDeposits, suspenseId, suspense),
      ...recorded(arrived, { suspenseId, journalEntryId: id }, view, tables),
    ],
    entry: { suspenseDepositId: suspenseId },
  };
}

function decideReturn(facts: Return, view: View, parts: Parts): Effect | Problem {
  const { id, transfer, arrived, postings } = facts;
  const { tables } = parts;
  const known = knownAs(arrived, view, tables);
  if (known !== undefined) return bookedProblem(arrived, known);
  const added = addReturn(facts, view, parts);
  if (added instanceof Problem) return added;
  // A frozen profile is credited: it cannot use what arrives.
  const isActive = ['ACTIVE', 'FROZEN'].includes(view.row(tables.profiles, transfer.profileId)?.status ?? '');
  const booked: Effect = isActive
    ? { postings, writes: recorded(arrived, { journalEntryId: id }, view, tables), entry: {} }
    : returnToSuspense(facts, view, parts);
  const corrects = { type: 'TRANSFER', id: transfer.id, legId: null } as const;
  return {
    ...booked,
    writes: [...booked.writes!, ...added],
    entry: { ...originOf(arrived), ...booked.entry, corrects, correctsCauseId: transfer.id },
    shownAs: () => corrects,
  };
}

/** Money that came back after a withdrawal was COMPLETED: all of it, or a part, in the course of time at most its amount. */
export async function withdrawalReturnPlan(
  id: string,
  order: OrderOf<'WITHDRAWAL_RETURN'>,
  reference: string,
  parts: Parts,
): Promise<Plan> {
  const { tables, sources } = parts;
  const { transferId, asset, units, account, output } = order;
  const transfer = await sources.transfers.byId(transferId);
  const rail = transfer && (await railOfWithdrawal(transfer, sources));
  if (rail === undefined) throw notFound('withdrawal', transferId);
  const fault = returnFault(transfer!, { id: transferId, asset });
  if (fault !== undefined) throw fault;
  const fields = createFields(tables.assets);
  const arrived = readMoney(fields, tables, rail, { asset, units }, { account, reference, output });
  fields.check();
  const postings = returnPostings(transfer!, rail, units, parts);
  if (postings instanceof Problem) throw postings;
  const facts: Return = { id, order, transfer: transfer!, arrived: arrived!, postings, suspenseId: newId() };
  return {
    balances: balancesOf(postings),
    reads: [
      ...arrivalReads(arrived!, tables),
      read(tables.journalEntries, reversalKey(transferId)),
      read(tables.withdrawalReturns, transferId),
      read(tables.withdrawals.transfers, transferId),
    ],
    decide: (view) => decideReturn(facts, view, parts),
  };
}
