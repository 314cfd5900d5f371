import { keysOfRecord } from '../deposits/identity.ts';
import { newId } from '../kernel/id.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import {
  type AccountRef,
  type Posting,
  type Read,
  read,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { withReturned } from '../withdrawals/by-operator.ts';
import type { OrderOf } from './order.ts';
import {
  balancesOf,
  correctionKey,
  type Effect,
  type Parts,
  type Plan,
  reversalKey,
  type Watched,
} from './plan.ts';
import { accountsIn, findTarget, type Target } from './targets.ts';

const isSame = (a: AccountRef, b: AccountRef): boolean =>
  a.account === b.account &&
  ('profileId' in a ? a.profileId : undefined) === ('profileId' in b ? b.profileId : undefined);

/** Accounts of the service in these postings that can run out. */
function watchedIn(postings: readonly Posting[], floors: readonly string[]): Watched[] {
  return postings.flatMap(({ asset, from, to }) =>
    [from, to].flatMap((ref): Watched[] => {
      if ('profileId' in ref || !['fees', 'conversion', 'treasury'].includes(ref.account)) return [];
      return [{ account: ref.account, asset, hasFloor: floors.includes(ref.account) }];
    }),
  );
}

/** The reversals of the target and of what is a part of it, or it of them. */
function reversalReads({ causeId, relatedCauseIds }: Target, { tables }: Parts): Read[] {
  return [causeId, ...relatedCauseIds].map((id) => read(tables.journalEntries, reversalKey(id)));
}

/** Set if the target, or a part of it, has been reversed. */
function reversedProblem({ causeId, relatedCauseIds }: Target, view: View, { tables }: Parts) {
  for (const id of [causeId, ...relatedCauseIds]) {
    const reversal = view.row(tables.journalEntries, reversalKey(id));
    if (reversal !== undefined) {
      return new Problem('invalid-state', `It was reversed by the journal entry ${reversal.id}.`, {
        status: 'REVERSED',
      });
    }
  }
  return undefined;
}

function relationFault(target: Target, { asset, from, to }: OrderOf<'CORRECTION'>): Problem | undefined {
  const scope = target.scope ?? target.postings;
  const assets = new Set(scope.map((one) => one.asset));
  if (!assets.has(asset)) {
    return invalidField('/asset', `must be an asset of what it corrects: ${[...assets].join(', ')}`);
  }
  const touches = (ref: AccountRef): boolean => accountsIn(scope).some((one) => isSame(one, ref));
  if (touches(from) || touches(to)) return undefined;
  return invalidField('/from', 'or to must be an account of what it corrects');
}

/** Moves a difference. The target keeps its own postings. */
export async function correctionPlan(order: OrderOf<'CORRECTION'>, parts: Parts): Promise<Plan> {
  const { tables } = parts;
  const { asset, units, from, to, corrects } = order;
  const target = await findTarget(corrects, parts.sources);
  const unrelated = relationFault(target, order);
  if (unrelated !== undefined) throw unrelated;
  const postings: Posting[] = [{ asset, units, from, to }];
  const { causeId } = target;
  return {
    balances: balancesOf(postings),
    reads: reversalReads(target, parts),
    watched: watchedIn(postings, ['fees', 'treasury']),
    decide(view) {
      for (const { profileId } of balancesOf(postings)) {
        if (view.row(tables.profiles, profileId) === undefined) return notFound('profile', profileId);
      }
      const reversed = reversedProblem(target, view, parts);
      if (reversed !== undefined) return reversed;
      return {
        postings,
        entry: { asset, amountUnits: units, corrects, correctsCauseId: causeId },
        shownAs: target.shownAs,
      };
    },
  };
}

type Reversal = {
  readonly id: string;
  readonly target: Target;
  /** The suspense deposit that the value becomes, if the target took it out of suspense. */
  readonly suspenseId: string;
};

/** Corrections and returns changed the value of the target since: its opposite would be wrong. */
function changedProblem({ causeId, relatedCauseIds, withdrawal }: Target, view: View, { tables }: Parts) {
  const [correction] = [causeId, ...relatedCauseIds].flatMap(
    (id) => view.row(tables.journalEntries, correctionKey(id)) ?? [],
  );
  if (correction !== undefined) {
    return new Problem(
      'invalid-state',
      `It was corrected by the journal entry ${correction.id}: reverse that first, or book another correction.`,
      { status: 'CORRECTED' },
    );
  }
  const returned = withdrawal && view.row(tables.withdrawalReturns, withdrawal.id);
  if (returned === undefined || returned.returnedUnits === 0n) return undefined;
  return new Problem('invalid-state', 'Money of it came back: reverse the returns first.', {
    status: 'RETURNED',
  });
}

/** Value that was taken out of suspense goes back there, as a new suspense deposit. */
function suspenseWrites({ id, target, suspenseId }: Reversal, view: View, { tables }: Parts): Write[] {
  if (target.suspense === undefined) return [];
  const { type, id: reversed } = target.corrects;
  const reason =
    type === 'TRANSFER'
      ? `The transfer ${reversed} that credited it was reversed.`
      : `The journal entry ${reversed} that returned it was reversed.`;
  const again = {
    ...target.suspense,
    id: suspenseId,
    reason,
    createdAtNs: view.recordedAt,
    transferId: null,
    returnedBy: null,
    journalEntryId: id,
  };
  return [write(tables.suspenseDeposits, suspenseId, again)];
}

/** What else the target left behind. */
function undone(reversal: Reversal, view: View, parts: Parts): Write[] {
  const { tables } = parts;
  const { target } = reversal;
  const writes = suspenseWrites(reversal, view, parts);
  const { arrival, returns } = target;
  if (arrival !== undefined) {
    const released = { ...arrival, isReleased: true } as const;
    for (const key of Object.values(keysOfRecord(arrival)))
      writes.push(write(tables.arrivalRecords, key, released));
  }
  if (returns !== undefined) {
    const row = view.row(tables.withdrawalReturns, returns.transferId)!;
    const returnedUnits = row.returnedUnits - returns.units;
    const transfer = view.row(tables.withdrawals.transfers, returns.transferId)!;
    const next = withReturned(transfer, returnedUnits, view.recordedAt, tables.assets);
    writes.push(write(tables.withdrawalReturns, row.transferId, { ...row, returnedUnits }));
    writes.push(write(tables.withdrawals.transfers, next.id, next));
  }
  return writes;
}

function decideReversal(
  reversal: Reversal,
  postings: readonly Posting[],
  view: View,
  parts: Parts,
): Effect | Problem {
  const { target, suspenseId } = reversal;
  const fault = reversedProblem(target, view, parts) ?? changedProblem(target, view, parts);
  if (fault !== undefined) return fault;
  const { corrects, causeId, suspense } = target;
  const [only, ...others] = postings;
  return {
    postings,
    writes: undone(reversal, view, parts),
    entry: {
      corrects,
      correctsCauseId: causeId,
      ...(suspense && { suspenseDepositId: suspenseId }),
      ...(others.length === 0 && { asset: only!.asset, amountUnits: only!.units }),
    },
    shownAs: target.shownAs,
  };
}

/** Books exactly the opposite, at most once. */
export async function reversalPlan(id: string, order: OrderOf<'REVERSAL'>, parts: Parts): Promise<Plan> {
  const { tables } = parts;
  const target = await findTarget(order.corrects, parts.sources);
  if (target.irreversible !== undefined) throw target.irreversible;
  const { causeId, relatedCauseIds, withdrawal, returns } = target;
  const postings = target.postings.map((one) => ({ ...one, from: one.to, to: one.from }));
  const returnedId = withdrawal?.id ?? returns?.transferId;
  const reversal: Reversal = { id, target, suspenseId: newId() };
  return {
    balances: balancesOf(postings),
    reads: [
      ...reversalReads(target, parts),
      ...[causeId, ...relatedCauseIds].map((one) => read(tables.journalEntries, correctionKey(one))),
      ...(target.suspense ? [read(tables.suspenseDeposits, target.suspense.id)] : []),
      ...(returnedId
        ? [read(tables.withdrawalReturns, returnedId), read(tables.withdrawals.transfers, returnedId)]
        : []),
    ],
    watched: watchedIn(postings, ['treasury']),
    decide: (view) => decideReversal(reversal, postings, view, parts),
  };
}
