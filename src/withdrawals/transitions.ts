import type { FiatAccount } from '../fiat-accounts/fiat-account.ts';
import type { Assets } from '../kernel/asset.ts';
import { INSTANT_MAX, type Instant, NS_PER_MS, NS_PER_SECOND } from '../kernel/instant.ts';
import {
  type Command,
  type Decision,
  read,
  type Table,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { firstWait } from '../policies/holds.ts';
import type { OnChain, Originator, Payment, Requested } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Note } from './notes.ts';
import { type Ending, type OutcomeTables, PAYING } from './outcome.ts';
import { type Claimed, moveTo, type Work, type WorkState, type WorkWrite } from './states.ts';
import { accountEnded, awaitingApproval, FROZEN, RENT_EXCEEDED, submitting, type Words } from './words.ts';

/** Rent paid for one destination on one day. */
export type RentPaid = { readonly key: string; readonly lamports: bigint };

export type ProgressTables = OutcomeTables & {
  readonly heldFiatAccounts: Table<FiatAccount>;
  readonly rents: Table<RentPaid>;
  /** The transfers of frozen parties. */
  readonly frozenTransfers: Table<true>;
  /** Who pays, by `originatorKey`. */
  readonly originators: Table<OriginatorDetails>;
  /** Rent for new token accounts that one destination may cost in a day. */
  readonly rentLamportsPerDayMax: bigint;
};

/** The withdrawal as its worker has claimed it. The worker's clock is ahead of the database's only in tests. */
export type Seen = Claimed & { readonly offsetNs: bigint };

const ASK_FROZEN_NS = BigInt(LIMITS.railBackoffMaxMs) * NS_PER_MS;

function rentKey(destination: string, now: Instant): string {
  return `${now / (86_400n * NS_PER_SECOND)}/${destination}`;
}

export type OriginatorDetails = Pick<Originator, 'customerName' | 'identity'>;

/** The names of the customer, and of the identity that the transfer names or that owns its account. */
export const originatorKey = ({ customerId, identityId, accountId }: Transfer): string =>
  [customerId, identityId ?? '', accountId ?? ''].join('/');

/** What the rail is asked to pay: to the fiat account, or without one to the address of the transfer. */
export function paymentOf(
  transfer: Transfer,
  account: FiatAccount | undefined,
  assets: Assets,
  details: OriginatorDetails = {},
): Payment {
  const { id, asset, amountUnits, memo, destinationAddress, customerId, profileId, beneficiary } = transfer;
  return {
    key: id,
    asset,
    amountUnits,
    amount: assets.format(asset, amountUnits),
    memo: memo ?? null,
    destination:
      account === undefined
        ? { address: destinationAddress! }
        : { instructions: account.fiatNetworkInstructions, owner: account.fiatAccountOwner },
    originator: {
      customerId,
      profileId,
      identityId: transfer.identityId ?? null,
      accountId: transfer.accountId ?? null,
      ...details,
    },
    ...(beneficiary && { beneficiary }),
  };
}

/** What the rail was asked to pay, to compare with what it reports. */
export function requestedOf({ asset, amountUnits }: Transfer, assets: Assets): Requested {
  return { asset, amount: assets.format(asset, amountUnits) };
}

/** The transfer with a new secondary status; undefined if that would change nothing. */
function reworded(
  transfer: Transfer,
  words: Words,
  now: Instant,
  onChain: OnChain = {},
): Transfer | undefined {
  const { secondaryStatus: old, cryptoTxHash } = transfer;
  const txHash = onChain.txHash ?? cryptoTxHash ?? null;
  if (old?.name === words.name && old.detail === words.detail && txHash === (cryptoTxHash ?? null))
    return undefined;
  return {
    ...transfer,
    secondaryStatus: words,
    cryptoTxHash: txHash,
    cryptoTxIndex: onChain.txIndex ?? transfer.cryptoTxIndex ?? null,
    updatedAtNs: now > transfer.updatedAtNs ? now : transfer.updatedAtNs + 1n,
  };
}

type Current = { readonly transfer: Transfer; readonly work: WorkWrite };

/** The withdrawal, if this worker still holds its lease. */
function current(seen: Seen, view: View, tables: ProgressTables): Current | undefined {
  const transfer = view.row(tables.transfers, seen.transfer.id);
  const work = view.row(tables.works, seen.transfer.id);
  if (transfer?.status !== 'PENDING' || work === undefined || work.done === true) return undefined;
  return work.version === seen.work.version ? { transfer, work } : undefined;
}

function accept<Answer>(seen: Seen, writes: readonly Write[], answer: Answer): Decision<Answer> {
  return { accepted: true, causeId: seen.transfer.id, postings: [], writes, answer };
}

function moved(
  { transfer, work }: Current,
  change: Partial<Work>,
  words: Words,
  now: Instant,
  tables: ProgressTables,
  onChain?: OnChain,
): Write[] {
  const next = reworded(transfer, words, now, onChain);
  return [
    write(tables.works, work.transferId, { ...work, ...change }),
    ...(next === undefined ? [] : [write(tables.transfers, next.id, next)]),
  ];
}

export type Intended =
  /** Recorded: the rail may be called now, with this payment and under this version. */
  | { readonly kind: 'submit'; readonly work: Work; readonly payment: Payment }
  /** The payment must not be sent. */
  | { readonly kind: 'end'; readonly ending: Ending }
  | { readonly kind: 'waits' | 'stale' };

function accountFault(account: FiatAccount | undefined, id: string): Ending | undefined {
  if (account === undefined || account.deletedAtNs !== null) {
    return { kind: 'failed', words: accountEnded(id, 'deleted') };
  }
  return account.status === 'REJECTED' ? { kind: 'failed', words: accountEnded(id, 'rejected') } : undefined;
}

function rentFault(transfer: Transfer): Ending {
  const max_rent_exceeded = {
    message: 'transfer cancelled due to suspected system abuse',
    destination_address: transfer.destinationAddress,
  };
  return { kind: 'failed', words: RENT_EXCEEDED, statusDetails: { max_rent_exceeded } };
}

/**
 * Records that the rail is about to be called. From here on the payment is fixed: after a crash, the next worker asks
 * about this very payment, and submits the same one again if it was lost.
 */
export function intendCommand(
  seen: Seen,
  given: { readonly rentLamports: bigint; readonly leaseMs: number },
  tables: ProgressTables,
): Command<Intended> {
  const { transfer: known, offsetNs } = seen;
  const { fiatAccountId } = known;
  const rents = given.rentLamports > 0n;
  const rent = rentKey(known.destinationAddress ?? '', seen.nowNs);
  return {
    actor: PAYING,
    balances: [],
    reads: [
      read(tables.transfers, known.id),
      read(tables.works, known.id),
      read(tables.frozenTransfers, known.id),
      read(tables.originators, originatorKey(known)),
      ...(fiatAccountId ? [read(tables.heldFiatAccounts, fiatAccountId)] : []),
      ...(rents ? [read(tables.rents, rent)] : []),
    ],
    decide(view) {
      const found = current(seen, view, tables);
      if (found === undefined) return accept(seen, [], { kind: 'stale' });
      const { transfer, work } = found;
      const now = view.now + offsetNs;
      if (view.row(tables.frozenTransfers, known.id) === true) {
        // Lifting the freeze makes it due. A rail that may have received the payment is asked in the meantime.
        const dueAtNs = work.state === 'UNKNOWN' ? now + ASK_FROZEN_NS : INSTANT_MAX;
        const writes = moved(found, { dueAtNs, frozen: true }, FROZEN, view.recordedAt, tables);
        return accept(seen, writes, { kind: 'waits' });
      }
      const held = work.state === 'QUEUED' ? firstWait(work.holds, now) : undefined;
      if (held !== undefined) {
        const { words, dueAtNs } = held;
        return accept(seen, moved(found, { dueAtNs }, words, view.recordedAt, tables), { kind: 'waits' });
      }
      const account = fiatAccountId ? view.row(tables.heldFiatAccounts, fiatAccountId) : undefined;
      // If there is a payment, the rail may have received it: then only the same payment can be submitted again.
      if (work.payment === null && fiatAccountId) {
        const ending = accountFault(account, fiatAccountId);
        if (ending !== undefined) return accept(seen, [], { kind: 'end', ending });
        if (account!.status === 'PENDING') {
          const words = awaitingApproval(account!);
          return accept(seen, moved(found, { dueAtNs: INSTANT_MAX }, words, view.recordedAt, tables), {
            kind: 'waits',
          });
        }
      }
      const spent = rents ? view.row(tables.rents, rent)!.lamports + given.rentLamports : 0n;
      if (spent > tables.rentLamportsPerDayMax) {
        return accept(seen, [], { kind: 'end', ending: rentFault(transfer) });
      }
      const originator = view.row(tables.originators, originatorKey(known));
      const payment = work.payment ?? paymentOf(transfer, account, tables.assets, originator);
      const next: Work = {
        ...work,
        state: moveTo(work.state, 'SUBMITTING'),
        attempts: work.attempts + 1,
        intentAtNs: now,
        payment,
        dueAtNs: now + BigInt(given.leaseMs) * NS_PER_MS,
        frozen: false,
        // Hours hold for a later attempt, too.
        holds: work.holds?.filter(({ kind }) => kind === 'BUSINESS_HOURS') ?? null,
      };
      const writes = [
        ...moved(found, next, submitting(work.rail), view.recordedAt, tables),
        ...(rents ? [write(tables.rents, rent, { key: rent, lamports: spent })] : []),
      ];
      return accept(seen, writes, { kind: 'submit', work: { ...next, version: next.version + 1n }, payment });
    },
  };
}

export type Step = {
  readonly state: WorkState;
  readonly delayMs: number;
  readonly failures: number;
  readonly words: Words;
  readonly onChain?: OnChain;
  readonly holds?: Work['holds'];
  readonly notes?: readonly Omit<Note, 'atNs'>[];
  /** The rail certainly accepted nothing: the next attempt builds the payment again, from the fiat account as it is then. */
  readonly forgetsPayment?: boolean;
};

/** A step that does not end the withdrawal: its new state, and when it is due again. */
export function stepCommand(seen: Seen, step: Step, tables: ProgressTables): Command<Work | 'stale'> {
  const { id } = seen.transfer;
  return {
    actor: PAYING,
    balances: [],
    reads: [read(tables.transfers, id), read(tables.works, id)],
    decide(view) {
      const found = current(seen, view, tables);
      if (found === undefined) return accept(seen, [], 'stale');
      const next: Work = {
        ...found.work,
        state: moveTo(found.work.state, step.state),
        failures: step.failures,
        dueAtNs: view.now + seen.offsetNs + BigInt(Math.ceil(step.delayMs * 1_000)) * 1_000n,
        ...(step.forgetsPayment === true && { payment: null }),
        ...(step.holds !== undefined && { holds: step.holds }),
      };
      const writes = [
        ...moved(found, next, step.words, view.recordedAt, tables, step.onChain),
        ...(step.notes ?? []).map((note) => write(tables.notes, id, { ...note, atNs: view.recordedAt })),
      ];
      return accept<Work | 'stale'>(seen, writes, { ...next, version: next.version + 1n });
    },
  };
}
