import { formatAmount } from '../kernel/amount.ts';
import type { Asset } from '../kernel/asset.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Report } from '../rails/notice-store.ts';
import type { KnownPayment, PaymentEnd } from '../rails/payment-store.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import type { AccountReport, Entry } from './camt.ts';
import { idOf } from './ids.ts';
import { memoOf } from './memo.ts';
import { type EntryRow, entryKey, type Finding, type NewEntry, type StatementRow } from './received-store.ts';

/** What the booked entries of a notification or statement do. Pure. */

export type EntryFacts = {
  readonly rail: FiatKind;
  readonly currency: Asset;
  readonly account: string;
  /** Entries that another message had before. */
  readonly known: ReadonlyMap<string, EntryRow>;
  /** Our payments that entries name, and those of them that the bank has booked before. */
  readonly payments: ReadonlyMap<string, KnownPayment>;
  readonly booked: ReadonlySet<string>;
  readonly memos: ReadonlySet<string>;
  readonly statementId: string | null;
  /** The statement books the entries, because the bank gives them no reference. Before that they only end payments. */
  readonly isAdvance: boolean;
};

export type EntryEffects = {
  readonly entries: readonly NewEntry[];
  readonly ends: readonly PaymentEnd[];
  readonly reports: readonly Report[];
  readonly findings: readonly Finding[];
};

export type ReferencedEntry = Entry & { readonly reference: string };

/** The reference of an entry for all time: with the day in front, at banks that use their references again. */
export function rowOf(entry: ReferencedEntry, account: string): EntryRow {
  const { reference, direction, units, bookedOn } = entry;
  return { account, reference, direction, units, bookedOn };
}

/** What payers wrote, and who they are, if the memo is not certain: suspense shows it to the operator. */
function uncertainMemo({ texts, sender }: Entry): string {
  const from = sender.name === undefined ? '' : ` (from ${sender.name})`;
  return `${texts.join(' ').slice(0, BANK_LIMITS.remittanceTextMax)}${from}`.trim() || 'without text';
}

type Outcome = {
  readonly effect: NewEntry['effect'];
  readonly key?: string;
  readonly end?: PaymentEnd;
  readonly report?: Report;
  readonly finding?: Pick<Finding, 'kind' | 'finding'>;
};

function debitOutcome(entry: ReferencedEntry, facts: EntryFacts): Outcome {
  const { currency, payments, booked } = facts;
  const key = idOf(entry.endToEndId);
  const payment = key === undefined ? undefined : payments.get(key);
  const amount = `${formatAmount(entry.units, currency.decimals)} ${currency.code}`;
  const what = `The bank debited ${amount} on ${entry.bookedOn} (reference ${entry.reference})`;
  if (entry.isReversal)
    return {
      effect: 'NONE',
      finding: {
        kind: 'REVERSED_CREDIT',
        finding: `${what} as the reversal of a credit. Nothing was booked.`,
      },
    };
  if (payment === undefined)
    return {
      effect: 'NONE',
      finding: {
        kind: 'UNKNOWN_DEBIT',
        finding: `${what}, which belongs to no payment. Nothing was booked.`,
      },
    };
  if (payment.units !== entry.units)
    return {
      effect: 'NONE',
      key: payment.key,
      finding: {
        kind: 'OTHER_AMOUNT',
        finding: `${what} for payment ${payment.key}, which has another amount. The payment stays as it is.`,
      },
    };
  if (booked.has(payment.key))
    return {
      effect: 'NONE',
      key: payment.key,
      finding: {
        kind: 'PAID_TWICE',
        finding: `${what} for payment ${payment.key}, which it had debited before.`,
      },
    };
  return {
    effect: 'PAYMENT',
    key: payment.key,
    end: { key: payment.key, state: 'COMPLETED', detail: `Paid: booked by the bank on ${entry.bookedOn}.` },
    ...(payment.state === 'FAILED' && {
      finding: {
        kind: 'CONTRADICTION',
        finding: `${what} for payment ${payment.key}, which it had refused before.`,
      },
    }),
  };
}

function creditOutcome(entry: ReferencedEntry, facts: EntryFacts): Outcome {
  const { rail, account, currency, payments, memos } = facts;
  const key = idOf(entry.endToEndId);
  const payment = key === undefined ? undefined : payments.get(key);
  const memoId =
    (payment === undefined && !entry.isReturn ? memoOf(entry.texts, memos) : undefined) ??
    uncertainMemo(entry);
  const arrived: ArrivedDeposit = {
    rail,
    account,
    reference: entry.reference,
    memoId,
    asset: currency.code,
    amountUnits: entry.units,
  };
  const sourceKey = `entry ${account} ${entry.reference}`;
  if (payment !== undefined)
    return {
      effect: 'RETURN',
      key: payment.key,
      ...(entry.isSettledReturn === true &&
        payment.state === 'ACCEPTED' && {
          end: {
            key: payment.key,
            state: 'COMPLETED',
            detail: 'Paid: the bank of the payee has returned it.',
          },
        }),
      report: { sourceKey, notice: { about: 'return', key: payment.key, arrived } },
    };
  return { effect: 'DEPOSIT', report: { sourceKey, notice: { about: 'deposit', deposit: arrived } } };
}

/** What a known name means: the same entry again, or another one under a name that was used before. */
function repeatedFinding(
  entry: Entry,
  { units, statementId }: EntryRow,
  facts: Pick<EntryFacts, 'currency' | 'statementId'>,
  isInside: boolean,
): Pick<Finding, 'kind' | 'finding'> | undefined {
  const shown = shownEntry(entry, facts.currency);
  if (entry.isNamedByContent === true)
    return statementId === facts.statementId
      ? undefined
      : {
          kind: 'SAME_ENTRY',
          finding: `The entry ${shown} is the same as one of statement ${statementId}, and has no reference of the bank. Nothing was booked for this one: if it is another payment, book it by hand.`,
        };
  if (units === entry.units && !isInside) return undefined;
  return {
    kind: 'REFERENCE_REUSED',
    finding: `The bank used the reference ${entry.reference} again, for the entry ${shown}. Nothing was booked for this one.`,
  };
}

const shownEntry = ({ direction, units, bookedOn }: Entry, { code, decimals }: Asset): string =>
  `${direction} ${formatAmount(units, decimals)} ${code} of ${bookedOn}`;

/** Payments that the bank has debited, before the statement books the debits. */
function advanceEnds(entries: readonly Entry[], facts: EntryFacts): PaymentEnd[] {
  const ends = new Map<string, PaymentEnd>();
  for (const entry of entries) {
    const { end } =
      entry.direction === 'DBIT' ? debitOutcome({ ...entry, reference: entry.reference ?? '' }, facts) : {};
    if (end !== undefined) ends.set(end.key, end);
  }
  return [...ends.values()];
}

/** The entries of one notification or statement. Those that were known before have no effect again. */
export function decideEntries(entries: readonly Entry[], facts: EntryFacts): EntryEffects {
  if (facts.isAdvance) return { entries: [], ends: advanceEnds(entries, facts), reports: [], findings: [] };
  const made: NewEntry[] = [];
  const ends = new Map<string, PaymentEnd>();
  const reports: Report[] = [];
  const findings: Finding[] = [];
  const booked = new Set(facts.booked);
  const seen = new Map<string, EntryRow>(facts.known);
  const inside = new Set<string>();
  const { account, currency, statementId } = facts;
  for (const [index, entry] of entries.entries()) {
    if (entry.reference === undefined) {
      findings.push({
        sourceKey: `no reference ${account} ${entry.bookedOn} ${entry.direction} ${entry.units} ${index}`,
        kind: 'NO_REFERENCE',
        finding: `The entry ${shownEntry(entry, currency)} has no reference of the bank, so it cannot be told from others. Nothing was booked.`,
      });
      continue;
    }
    const row = rowOf(entry as ReferencedEntry, account);
    const name = entryKey(row);
    const earlier = seen.get(name);
    if (earlier !== undefined) {
      const repeated = repeatedFinding(entry, earlier, facts, inside.has(name));
      if (repeated !== undefined)
        findings.push({ ...repeated, sourceKey: `reused ${name} ${entry.units} ${entry.bookedOn}` });
      continue;
    }
    seen.set(name, row);
    inside.add(name);
    const { effect, key, end, report, finding } =
      entry.direction === 'DBIT'
        ? debitOutcome(entry as ReferencedEntry, { ...facts, booked })
        : creditOutcome(entry as ReferencedEntry, facts);
    if (effect === 'PAYMENT') booked.add(key!);
    if (end !== undefined) ends.set(end.key, end);
    if (report !== undefined) reports.push(report);
    if (finding !== undefined) findings.push({ ...finding, sourceKey: `entry ${name}` });
    const { texts, sender, endToEndId, isReturn, isReversal } = entry;
    const details = { texts, sender, endToEndId, isReturn, isReversal };
    made.push({ ...row, effect, key: key ?? null, details, statementId });
  }
  return { entries: made, ends: [...ends.values()], reports, findings };
}

/** The balances of a statement; undefined if it has none. */
export function statementOf({
  id,
  account,
  openingUnits,
  closingUnits,
  closingDate,
}: AccountReport): StatementRow | undefined {
  if (openingUnits === undefined || closingUnits === undefined) return undefined;
  return { account, statementId: id, openingUnits, closingUnits, closingDate: closingDate ?? '' };
}

/** Whether a statement adds up, and continues the one before. */
export function statementFindings(
  statement: StatementRow,
  entries: readonly Entry[],
  before: StatementRow | undefined,
  { code, decimals }: Asset,
): Finding[] {
  const { statementId, openingUnits, closingUnits } = statement;
  const shown = (units: bigint): string => `${formatAmount(units, decimals)} ${code}`;
  const findings: Finding[] = [];
  const moved = entries.reduce(
    (sum, { direction, units }) => sum + (direction === 'CRDT' ? units : -units),
    0n,
  );
  if (openingUnits + moved !== closingUnits)
    findings.push({
      sourceKey: `sum ${statementId}`,
      kind: 'STATEMENT_SUM',
      finding: `Statement ${statementId} does not add up: from ${shown(openingUnits)}, its entries lead to ${shown(openingUnits + moved)}, and not to ${shown(closingUnits)}.`,
    });
  if (before !== undefined && before.closingUnits !== openingUnits)
    findings.push({
      sourceKey: `gap ${statementId}`,
      kind: 'STATEMENT_GAP',
      finding: `Statement ${statementId} starts with ${shown(openingUnits)}, and the one before (${before.statementId}) ended with ${shown(before.closingUnits)}: a statement may be missing.`,
    });
  return findings;
}
