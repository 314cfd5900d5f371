import type { Charge, Given } from '../fees/charge.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Instant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import {
  type Decision,
  type Read,
  read,
  refuse,
  type Table,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { guard, type PolicyTables, policyReads } from '../policies/guard.ts';
import type { PolicySet, Subject } from '../policies/policy.ts';
import type { RailName } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import {
  endUserProblem,
  endUserReads,
  ownProfileProblem,
  type TransferTables,
} from '../transfers/request.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { firstWork, type NewWork } from './states.ts';

export type WithdrawalTables = TransferTables &
  PolicyTables & {
    readonly newWork: Table<NewWork>;
    /** Whether the service has that rail. */
    hasRail(rail: RailName): boolean;
  };

/** The fields that fiat and crypto withdrawals share. */
export type WithdrawalRequest = {
  readonly profile_id: string;
  readonly identity_id?: string;
  readonly account_id?: string;
  readonly ref_id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly memo?: string;
};

export function withdrawalReads(
  request: WithdrawalRequest & { readonly asset: string },
  { set, destination }: { readonly set: PolicySet; readonly destination: string },
  tables: WithdrawalTables,
): Read[] {
  const { profile_id: profileId, asset } = request;
  const known = { customerId: set.customerId, profileId, asset, destination };
  return [
    read(tables.profiles, profileId),
    ...endUserReads(tables.endUsers, request, ''),
    ...policyReads(set, known, tables),
  ];
}

export function withdrawalFault(
  caller: Caller,
  request: WithdrawalRequest,
  view: View,
  tables: TransferTables,
): Problem | undefined {
  return (
    ownProfileProblem(view, tables.profiles, request.profile_id, caller.customerId) ??
    endUserProblem(view, tables.endUsers, request, '', caller.customerId)
  );
}

/** The request in the form in which requests are compared: `"1.00"` equals `"1"`. */
export function normalised<Request extends object>(
  request: Request,
  given: Given,
  format: (units: bigint) => string,
): Request {
  return { ...request, [given.field]: format(given.units) };
}

type Kind = Pick<Transfer, 'type' | 'asset' | 'balanceAsset' | 'balanceUnits' | 'secondaryStatus'>;

/** A new withdrawal: accepted, its total on hold, not submitted to a rail. */
export function pendingWithdrawal(
  id: string,
  caller: Caller,
  request: WithdrawalRequest,
  charge: Charge,
  kind: Kind,
  now: Instant,
): Transfer {
  return {
    ...kind,
    id,
    customerId: caller.customerId,
    profileId: request.profile_id,
    direction: 'DEBIT',
    status: 'PENDING',
    amountUnits: charge.amountUnits,
    feeUnits: charge.feeUnits,
    createdAtNs: now,
    updatedAtNs: now,
    identityId: request.identity_id ?? null,
    accountId: request.account_id ?? null,
    refId: request.ref_id ?? null,
    metadata: request.metadata ?? null,
    memo: request.memo ?? null,
  };
}

/**
 * One transaction creates the transfer and its work, and moves the total from `available` to `held`, where it stays until
 * the withdrawal ends. Policies refuse it, or say what it waits for.
 */
export function hold(
  requested: Transfer,
  to: {
    readonly rail: RailName;
    readonly destination: string;
    readonly set: PolicySet;
    readonly by: Actor;
  },
  view: View,
  tables: WithdrawalTables,
  writes: readonly Write[] = [],
): Decision<Transfer> {
  const { profileId, customerId, asset, amountUnits: units } = requested;
  const { rail, destination, set, by } = to;
  const subject: Subject = { customerId, profileId, asset, rail, destination, units };
  const guarded = guard(view, set, subject, { transferId: requested.id, by }, tables);
  if (guarded instanceof Problem) return refuse(guarded);
  const transfer = { ...requested, ...(guarded.words && { secondaryStatus: guarded.words }) };
  return {
    accepted: true,
    causeId: transfer.id,
    postings: [
      {
        asset: transfer.balanceAsset,
        units: transfer.balanceUnits,
        from: { profileId, account: 'available' },
        to: { profileId, account: 'held' },
      },
    ],
    writes: [
      write(tables.newTransfers, transfer.id, transfer),
      write(tables.newWork, transfer.id, firstWork(transfer, rail, guarded)),
      ...guarded.writes,
      transferEvent(transfer, tables.assets),
      ...writes,
    ],
    answer: transfer,
  };
}
