import type { ArrivalRecord } from '../deposits/identity.ts';
import { accountOf, type SuspenseDeposit } from '../deposits/suspense-deposit.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import type { AccountRef, Posting } from '../ledger/command.ts';
import type { RailName } from '../rails/rail.ts';
import { legPosting } from '../settlement/postings.ts';
import { clearingAccount } from '../transfers/rails.ts';
import { INSIDE_TYPES, sideIds, type Transfer } from '../transfers/transfer.ts';
import { completionPostings } from '../withdrawals/outcome.ts';
import type { Corrects, JournalEntry } from './entry.ts';
import type { JournalSources } from './plan.ts';

/** What a correction or a reversal refers to. It has ended, so it never changes. */
export type Target = {
  readonly corrects: Corrects;
  /** The cause under which it moved value: the group of a transfer inside the service, the leg of a settlement. */
  readonly causeId: string;
  /** What it moved, from the start to the end. Empty: nothing, in the end. */
  readonly postings: readonly Posting[];
  /** The accounts that a correction of it may change, if it could change others than it did. */
  readonly scope?: readonly Posting[];
  /** Causes that are a part of it, or that it is a part of: reversing one of them reverses a part of it. */
  readonly relatedCauseIds: readonly string[];
  /** A withdrawal that was paid: money may have come back. */
  readonly withdrawal?: Transfer;
  /** It took value out of suspense: a reversal puts it back. */
  readonly suspense?: SuspenseDeposit;
  /** It was booked by hand: a reversal releases the reference. */
  readonly arrival?: ArrivalRecord;
  /** It is itself a return of this withdrawal. */
  readonly returns?: { readonly transferId: string; readonly units: bigint };
  /** Why it cannot be reversed. */
  readonly irreversible?: Problem;
  shownAs(profileId: string): Corrects | undefined;
};

const available = (profileId: string): AccountRef => ({ profileId, account: 'available' });

const invalid = (status: string, detail: string): Problem => new Problem('invalid-state', detail, { status });

/** The rail of a withdrawal; undefined for other transfers. */
export async function railOfWithdrawal(
  transfer: Transfer,
  { fiatKind }: Pick<JournalSources, 'fiatKind'>,
): Promise<RailName | undefined> {
  const { direction, groupId, cryptoNetwork, fiatAccountId } = transfer;
  if (direction !== 'DEBIT' || groupId) return undefined;
  if (cryptoNetwork) return cryptoNetwork as RailName;
  return (await fiatKind(fiatAccountId!))!;
}

/** Both accounts of each posting. */
export const accountsIn = (postings: readonly Posting[]): AccountRef[] =>
  postings.flatMap(({ from, to }) => [from, to]);

const isPartOf = (postings: readonly Posting[], profileId: string): boolean =>
  accountsIn(postings).some((ref) => 'profileId' in ref && ref.profileId === profileId);

async function insideTarget(
  corrects: Corrects,
  transfer: Transfer,
  sources: JournalSources,
): Promise<Target> {
  const groupId = transfer.groupId!;
  const [debitId, creditId] = sideIds(groupId);
  const sides = await sources.transfers.byIds([debitId, creditId]);
  const [debit, credit] = [sides.get(debitId)!, sides.get(creditId)!];
  const { asset, amountUnits: units } = debit;
  const postings = [{ asset, units, from: available(debit.profileId), to: available(credit.profileId) }];
  return {
    corrects,
    causeId: groupId,
    postings,
    relatedCauseIds: [],
    // Each side is shown its own transfer.
    shownAs(profileId) {
      const own = [debit, credit].find((one) => one.profileId === profileId);
      return own && { ...corrects, id: own.id };
    },
  };
}

/** Deposits of the sandbox have no arrival: they come over the network of the transfer, or a wire. */
async function depositTarget(
  corrects: Corrects,
  transfer: Transfer,
  sources: JournalSources,
): Promise<Target> {
  const { id, asset, balanceUnits, feeUnits, profileId, cryptoNetwork } = transfer;
  const [suspense, arrival] = await Promise.all([
    sources.origins.suspenseOf(id),
    sources.origins.arrivalOf('transfer_id', id),
  ]);
  const rail = (arrival?.rail ?? cryptoNetwork ?? 'wire') as RailName;
  const from = suspense === undefined ? clearingAccount(rail) : accountOf(suspense);
  const postings: Posting[] = [
    { asset, units: balanceUnits, from, to: available(profileId) },
    ...(feeUnits > 0n ? [{ asset, units: feeUnits, from, to: { account: 'fees' } as const }] : []),
  ];
  return {
    corrects,
    causeId: id,
    postings,
    relatedCauseIds: [],
    // What is in suspense is credited or returned, not corrected: the money outside can be.
    ...(suspense && {
      suspense,
      scope: [{ ...postings[0]!, from: clearingAccount(suspense.rail as RailName) }],
    }),
    ...(arrival?.journalEntryId && { arrival }),
    shownAs: () => corrects,
  };
}

function withdrawalTarget(corrects: Corrects, transfer: Transfer, rail: RailName): Target {
  const { id, status } = transfer;
  const all = completionPostings(transfer, rail, 'available');
  return {
    corrects,
    causeId: id,
    postings: status === 'COMPLETED' ? all : [],
    scope: all,
    relatedCauseIds: [],
    ...(status === 'COMPLETED'
      ? { withdrawal: transfer }
      : { irreversible: invalid(status, `Withdrawal ${id} is ${status}: its total has returned already.`) }),
    shownAs: () => corrects,
  };
}

async function transferTarget(corrects: Corrects, sources: JournalSources): Promise<Target> {
  const transfer = await sources.transfers.byId(corrects.id);
  if (transfer === undefined) throw notFound('transfer', corrects.id);
  if (transfer.status === 'PENDING') {
    throw invalid('PENDING', `Transfer ${transfer.id} is PENDING: resolve or cancel it instead.`);
  }
  if ((INSIDE_TYPES as readonly string[]).includes(transfer.type)) {
    return insideTarget(corrects, transfer, sources);
  }
  const rail = await railOfWithdrawal(transfer, sources);
  return rail === undefined
    ? depositTarget(corrects, transfer, sources)
    : withdrawalTarget(corrects, transfer, rail);
}

async function settlementTarget(corrects: Corrects, sources: JournalSources): Promise<Target> {
  const settlement = await sources.settlement(corrects.id);
  if (settlement === undefined) throw notFound('settlement transaction', corrects.id);
  const { id, legs, status } = settlement;
  if (status !== 'SETTLED') {
    throw invalid(status, `Settlement transaction ${id} is ${status}: it has moved nothing.`);
  }
  const { legId } = corrects;
  const chosen = legs.filter((leg) => legId === null || leg.id === legId);
  if (chosen.length === 0) throw notFound('leg', legId!);
  const postings = chosen.map((leg) => legPosting(settlement, leg));
  return {
    corrects,
    causeId: legId ?? id,
    postings,
    relatedCauseIds: legId === null ? legs.map((leg) => leg.id) : [id],
    shownAs: (profileId) => (isPartOf(postings, profileId) ? corrects : undefined),
  };
}

/** Why a journal entry cannot be the target. */
function entryFault({ id, kind, transferId, suspenseDepositId }: JournalEntry): Problem | undefined {
  if (transferId !== null) {
    return invalid(
      kind,
      `Journal entry ${id} acts through the transfer ${transferId}: correct that instead.`,
    );
  }
  if (kind === 'REVERSAL')
    return invalid(kind, `Journal entry ${id} is a reversal: book a new entry instead.`);
  if (kind === 'WITHDRAWAL_RETURN' && suspenseDepositId !== null) {
    return invalid(
      kind,
      `Journal entry ${id} became the suspense deposit ${suspenseDepositId}: credit or return that instead.`,
    );
  }
  return undefined;
}

async function entryTarget(corrects: Corrects, sources: JournalSources): Promise<Target> {
  const entry = await sources.entry(corrects.id);
  if (entry === undefined) throw notFound('journal entry', corrects.id);
  const fault = entryFault(entry);
  if (fault !== undefined) throw fault;
  const { id, kind, postings, amountUnits, suspenseDepositId, corrects: corrected } = entry;
  const arrival = await sources.origins.arrivalOf('journal_entry_id', id);
  const suspense =
    kind === 'SUSPENSE_RETURN' ? await sources.origins.suspense(suspenseDepositId!) : undefined;
  return {
    corrects,
    causeId: id,
    postings,
    relatedCauseIds: [],
    ...(suspense && { suspense }),
    ...(arrival && { arrival }),
    ...(kind === 'WITHDRAWAL_RETURN' && { returns: { transferId: corrected!.id, units: amountUnits! } }),
    ...(postings.length === 0 && { irreversible: invalid(kind, `Journal entry ${id} has moved nothing.`) }),
    shownAs: (profileId) => (isPartOf(postings, profileId) ? corrects : undefined),
  };
}

/** Throws a problem if there is no such record, or if it has not ended. */
export function findTarget(corrects: Corrects, sources: JournalSources): Promise<Target> {
  if (corrects.type === 'TRANSFER') return transferTarget(corrects, sources);
  return corrects.type === 'SETTLEMENT'
    ? settlementTarget(corrects, sources)
    : entryTarget(corrects, sources);
}
