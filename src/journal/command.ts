import { event } from '../events/outbox.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { systemAccountKey } from '../ledger/balances.ts';
import {
  type Command,
  type Decision,
  type Posting,
  read,
  refuse,
  type View,
  type Write,
  write,
} from '../ledger/command.ts';
import { manualDepositPlan, openingBalancePlan, withdrawalReturnPlan } from './arriving.ts';
import { correctionPlan, reversalPlan } from './correcting.ts';
import { endingPlan } from './ending.ts';
import { type JournalEntry, presentCorrects } from './entry.ts';
import { JOURNAL_EVENTS } from './event-types.ts';
import type { Order } from './order.ts';
import {
  balancesOf,
  correctionKey,
  type Effect,
  entryKey,
  type Parts,
  type Plan,
  reversalKey,
  type Watched,
} from './plan.ts';
import { suspenseCreditPlan, suspenseReturnPlan } from './suspense.ts';
import { payoutPlan, sweepPlan, writeOffPlan } from './treasury.ts';

/** Who books: the id that the entry shows, its customer, and the actor. */
export type Booker = { readonly clientId: string; readonly customerId: string; readonly actor: Actor };

export const bookerOf = (caller: Caller): Booker => ({
  clientId: caller.clientId,
  customerId: caller.customerId,
  actor: actorOf(caller),
});

/** An order with what every journal entry has. */
export type Booking = {
  readonly order: Order;
  readonly refId: string;
  readonly reason: string;
  readonly reference: string;
  readonly note: string | null;
  /** The request in the form in which requests are compared. */
  readonly request: Readonly<Record<string, unknown>>;
};

/** Reads what the order refers to. Throws a problem if that does not exist, or does not allow it. */
async function planOf(id: string, { order, reference }: Booking, parts: Parts): Promise<Plan> {
  switch (order.kind) {
    case 'OPENING_BALANCE':
    case 'TREASURY_FUNDING':
      return openingBalancePlan(id, order, parts);
    case 'MANUAL_DEPOSIT':
      return manualDepositPlan(id, order, parts);
    case 'WITHDRAWAL_RETURN':
      return withdrawalReturnPlan(id, order, reference, parts);
    case 'TREASURY_PAYOUT':
      return payoutPlan(order);
    case 'SWEEP':
      return sweepPlan(order, parts);
    case 'WRITE_OFF':
      return writeOffPlan(order);
    case 'SUSPENSE_CREDIT':
      return suspenseCreditPlan(order, parts);
    case 'SUSPENSE_RETURN':
      return suspenseReturnPlan(id, order, parts);
    case 'CORRECTION':
      return correctionPlan(order, parts);
    case 'REVERSAL':
      return reversalPlan(id, order, parts);
    default:
      return endingPlan(order, parts);
  }
}

/** How much the postings change an account of the service. */
function changeOf({ account, asset }: Watched, postings: readonly Posting[]): bigint {
  let sum = 0n;
  for (const { from, to, units, asset: moved } of postings) {
    if (moved !== asset) continue;
    if (!('profileId' in to) && to.account === account) sum += units;
    if (!('profileId' in from) && from.account === account) sum -= units;
  }
  return sum;
}

/** Checks the floors of the watched accounts, and keeps their new balances for later commands of the batch. */
function watch(
  watched: readonly Watched[],
  postings: readonly Posting[],
  view: View,
  { tables }: Parts,
): Write[] | Problem {
  const writes: Write[] = [];
  for (const one of watched) {
    const { account, asset, hasFloor } = one;
    const key = systemAccountKey(account, asset);
    const row = view.row(tables.systemAccounts, key)!;
    const change = changeOf(one, postings);
    const balance = row.balance + change;
    if (hasFloor && change < 0n && balance < 0n) {
      const [available, needed] = [row.balance, -change].map((units) => tables.assets.format(asset, units));
      return new Problem(
        'insufficient-funds',
        `The account ${account} has ${available} ${asset}, ${needed} ${asset} are needed.`,
        { account, asset, available, needed },
      );
    }
    writes.push(write(tables.systemAccounts, key, { ...row, balance }));
  }
  return writes;
}

/** An event for each profile and asset that changed, with what its owner may see. */
function eventsOf(entry: JournalEntry, shownAs: Effect['shownAs'], view: View, { tables }: Parts): Write[] {
  const { id, kind, note, createdAtNs, postings } = entry;
  return balancesOf(postings).flatMap(({ profileId, asset }) => {
    let units = 0n;
    for (const { asset: moved, units: by, from, to } of postings) {
      if (moved !== asset) continue;
      if ('profileId' in to && to.profileId === profileId) units += by;
      if ('profileId' in from && from.profileId === profileId) units -= by;
    }
    if (units === 0n) return [];
    const corrects = shownAs?.(profileId);
    const resource = {
      id,
      kind,
      profile_id: profileId,
      direction: units > 0n ? 'CREDIT' : 'DEBIT',
      asset,
      amount: tables.assets.format(asset, units > 0n ? units : -units),
      ...(note !== null && { note }),
      ...(corrects && { corrects: presentCorrects(corrects) }),
      created_at: formatInstant(createdAtNs),
    };
    const { credited, debited } = JOURNAL_EVENTS.types;
    const { customerId } = view.row(tables.profiles, profileId)!;
    return [event(units > 0n ? credited : debited, customerId, id, createdAtNs, resource)];
  });
}

/** Under every key by which later commands look for it. */
function entryWrites(entry: JournalEntry, { tables }: Parts): Write[] {
  const { id, kind, correctsCauseId } = entry;
  const keys = [entryKey(id)];
  if (kind === 'REVERSAL') keys.push(reversalKey(correctsCauseId!));
  if (kind === 'CORRECTION') keys.push(correctionKey(correctsCauseId!));
  return keys.map((key) => write(tables.journalEntries, key, entry));
}

function entryOf(id: string, booker: Booker, booking: Booking, effect: Effect, view: View): JournalEntry {
  const { order, refId, reason, reference, note } = booking;
  const postings = effect.postings ?? [];
  const all = [...postings, ...(effect.through?.postings ?? [])];
  return {
    id,
    kind: order.kind,
    customerId: booker.customerId,
    actor: booker.clientId,
    refId,
    reason,
    reference,
    note,
    createdAtNs: view.recordedAt,
    asset: null,
    amountUnits: null,
    rail: null,
    account: null,
    output: null,
    profileIds: [...new Set(balancesOf(all).map(({ profileId }) => profileId))],
    assets: [...new Set(all.map(({ asset }) => asset))],
    corrects: null,
    correctsCauseId: null,
    transferId: null,
    suspenseDepositId: null,
    outcome: null,
    ...effect.entry,
    postings,
    reversedBy: null,
  };
}

function decide(
  id: string,
  booker: Booker,
  booking: Booking,
  plan: Plan,
  view: View,
  parts: Parts,
): Decision<JournalEntry> {
  const effect = plan.decide(view);
  if (effect instanceof Problem) return refuse(effect);
  const { through } = effect;
  const entry = entryOf(id, booker, booking, effect, view);
  for (const profileId of entry.profileIds) {
    if (view.row(parts.tables.profiles, profileId) === undefined)
      return refuse(notFound('profile', profileId));
  }
  const watched = watch(plan.watched ?? [], entry.postings, view, parts);
  if (watched instanceof Problem) return refuse(watched);
  const throughId = through?.transfer.id;
  return {
    accepted: true,
    causeId: id,
    postings: [
      ...entry.postings,
      ...(through?.postings ?? []).map((posting) => ({ ...posting, causeId: throughId! })),
    ],
    writes: [
      ...entryWrites(entry, parts),
      ...(through?.writes ?? []),
      ...(effect.writes ?? []),
      ...watched,
      ...eventsOf(entry, effect.shownAs, view, parts),
    ],
    answer: entry,
  };
}

/** Amounts are compared by value. */
export function comparable(body: Readonly<Record<string, unknown>>, order: Order, assets: Assets) {
  if (!('units' in order) || order.units === undefined) return body;
  return { ...body, amount: assets.format(order.asset, order.units) };
}

/** Journal entries have one space of ref_ids per customer. */
export const JOURNAL_SPACE = 'journal_entries';

/**
 * The command that books an order. Reading a journal key takes the lock of the journal, so entries are decided one after
 * another on all nodes.
 */
export async function journalCommand(
  booker: Booker,
  booking: Booking,
  parts: Parts,
): Promise<Command<JournalEntry>> {
  const id = newId();
  const { tables } = parts;
  const plan = await planOf(id, booking, parts);
  const profileIds = new Set(plan.balances.map(({ profileId }) => profileId));
  return {
    actor: booker.actor,
    key: {
      customerId: booker.customerId,
      space: JOURNAL_SPACE,
      refId: booking.refId,
      resourceId: id,
      request: booking.request,
    },
    balances: plan.balances,
    reads: [
      read(tables.journalEntries, entryKey(id)),
      ...plan.reads,
      ...(plan.watched ?? []).map(({ account, asset }) =>
        read(tables.systemAccounts, systemAccountKey(account, asset)),
      ),
      ...[...profileIds].map((profileId) => read(tables.profiles, profileId)),
    ],
    decide: (view) => decide(id, booker, booking, plan, view, parts),
  };
}
