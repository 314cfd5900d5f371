import type { KnownPayment, PaymentEnd } from '../rails/payment-store.ts';
import type { FileState } from './file-store.ts';
import { idOf, plainId } from './ids.ts';
import type { Status, StatusReport, TransferStatus } from './pain002.ts';
import type { Finding } from './received-store.ts';

/** What a status report does to the payments of its file. Pure. */

/** What customers are shown. The words of the bank are for the operator: they may be about the operator's account. */
const REASONS: Readonly<Record<string, string>> = {
  AC01: 'the account number is wrong',
  AC03: 'the account number of the payee is wrong',
  AC04: 'the account is closed',
  AC06: 'the account is blocked',
  AC07: 'the account of the payee is closed',
  AC13: 'the kind of account is wrong',
  AG01: 'the account does not accept this kind of payment',
  AM02: 'the amount is larger than the bank accepts',
  BE01: 'the name does not belong to the account',
  BE04: 'the address of the payee is missing',
  BE05: 'the bank does not know who initiated it',
  BE07: 'the address is incomplete',
  MD07: 'the payee has died',
  RC01: 'the bank of the payee is unknown',
  RC04: 'the bank of the payee is unknown',
  RR03: 'the name or address of the payee is missing',
};

/** Regulatory reasons other than missing data, fraud, and those that the bank does not give. */
const CONFIDENTIAL = /^(RR(?!03)|FRAD|FR01|MS02|MS03|LEGL|CUST|FOCR|NARR)/;

export function refusedBecause({ reason }: Pick<Status, 'reason'>): string {
  const [code] = /^[A-Z0-9]{4}(?= |;|$)/.exec(reason ?? '') ?? [];
  // What the bank suspects, or which list it found somebody on, is not for the customer.
  if (code === undefined || CONFIDENTIAL.test(code)) return 'The bank refused the payment.';
  const words = REASONS[code];
  return words === undefined
    ? `The bank refused the payment (${code}).`
    : `The bank refused the payment: ${words} (${code}).`;
}

export type StatusEffects = {
  /** Each key at most once. */
  readonly ends: readonly PaymentEnd[];
  readonly findings: readonly Finding[];
  readonly fileState: FileState | undefined;
};

const ENDED = { settled: 'COMPLETED', refused: 'FAILED' } as const;

function endOf(key: string, { meaning, code, reason }: Status): PaymentEnd | undefined {
  if (meaning === 'settled') return { key, state: 'COMPLETED', detail: `Paid: the bank reports ${code}.` };
  if (meaning === 'refused') {
    const privateDetail = `The bank refused the payment: ${[code, reason].filter(Boolean).join(' ')}.`;
    return { key, state: 'FAILED', detail: refusedBecause({ reason }), privateDetail };
  }
  return undefined;
}

/** Why a status of a payment has no effect, as a finding; undefined if it has one. */
function findingAbout(
  status: TransferStatus,
  key: string | undefined,
  payment: KnownPayment | undefined,
  report: StatusReport,
): Finding | undefined {
  const { endToEndId = 'none', code, meaning, units, statedAmount, reason } = status;
  const about = { sourceKey: `${report.originalMessageId} ${endToEndId} ${code}` };
  const file = `file ${report.originalMessageId}`;
  if (key === undefined || payment === undefined)
    return {
      ...about,
      kind: 'UNKNOWN_PAYMENT',
      finding: `The bank reports ${code} for ${endToEndId}, which is no payment of ${file}.`,
    };
  if (units !== undefined && units !== payment.units)
    return {
      ...about,
      kind: 'OTHER_AMOUNT',
      finding: `The bank reports ${code} for ${endToEndId} with the amount ${statedAmount}, which is not that of the payment. It has no effect.`,
    };
  if (meaning === 'duplicate')
    return {
      ...about,
      kind: 'DUPLICATE',
      finding: `The bank refused ${endToEndId} as a duplicate (${reason}). Ask the bank about the first one.`,
    };
  if (meaning === 'unknown')
    return {
      ...about,
      kind: 'UNKNOWN_STATUS',
      finding: `The bank reports the unknown status ${code} for ${endToEndId}.`,
    };
  const state = ENDED[meaning as keyof typeof ENDED];
  if (state !== undefined && payment.state !== 'ACCEPTED' && payment.state !== state)
    return {
      ...about,
      kind: 'CONTRADICTION',
      finding: `The bank reports ${code} for ${endToEndId}, which is ${payment.state}.`,
    };
  return undefined;
}

/** The file as a whole. A refusal as a duplicate is about a copy, and says nothing about the payments. */
function stateAfter({ group }: StatusReport, current: FileState): FileState | undefined {
  const isAnswered = ['ACKNOWLEDGED', 'PART', 'REJECTED'].includes(current);
  switch (group?.meaning) {
    case 'refused':
      return current === 'ACKNOWLEDGED' || current === 'PART' ? 'PART' : 'REJECTED';
    case 'duplicate':
      return isAnswered ? undefined : 'ASKED';
    case 'part':
      return current === 'REJECTED' ? undefined : 'PART';
    default:
      return isAnswered ? undefined : 'ACKNOWLEDGED';
  }
}

export function decideStatuses(
  report: StatusReport,
  current: FileState,
  /** Of the file. */
  payments: ReadonlyMap<string, KnownPayment>,
): StatusEffects {
  const findings: Finding[] = [];
  const ends = new Map<string, PaymentEnd>();
  const mentioned = new Set<string>();
  for (const status of report.transfers) {
    const key = idOf(status.endToEndId);
    const payment = key === undefined ? undefined : payments.get(key);
    if (payment !== undefined) mentioned.add(payment.key);
    const finding = findingAbout(status, key, payment, report);
    if (finding !== undefined) findings.push(finding);
    // A contradiction is reported like an outcome, too: the service records it with the withdrawal.
    if (payment === undefined || (finding !== undefined && finding.kind !== 'CONTRADICTION')) continue;
    const end = endOf(payment.key, status);
    const earlier = ends.get(payment.key);
    if (end !== undefined && earlier === undefined) ends.set(payment.key, end);
    else if (end !== undefined && earlier!.state !== end.state) {
      ends.delete(payment.key);
      findings.push({
        sourceKey: `${report.messageId} ${plainId(payment.key)} both`,
        kind: 'CONTRADICTION',
        finding: `One status report has ${plainId(payment.key)} both as paid and as refused. It has no effect.`,
      });
    }
  }
  const { group } = report;
  if (group !== undefined)
    for (const { key, state } of payments.values()) {
      const end = mentioned.has(key) || state !== 'ACCEPTED' ? undefined : endOf(key, group);
      if (end !== undefined) ends.set(key, end);
    }
  if (group?.meaning === 'duplicate' || group?.meaning === 'unknown')
    findings.push({
      sourceKey: `${report.originalMessageId} ${group.code} ${group.meaning}`,
      kind: group.meaning === 'duplicate' ? 'DUPLICATE' : 'UNKNOWN_STATUS',
      finding:
        group.meaning === 'duplicate'
          ? `The bank refused file ${report.originalMessageId} as a duplicate (${group.reason}). Its payments stay open: ask the bank about the first copy.`
          : `The bank reports the unknown status ${group.code} for file ${report.originalMessageId}.`,
    });
  return { ends: [...ends.values()], findings, fileState: stateAfter(report, current) };
}
