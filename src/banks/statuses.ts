import type { KnownPayment, PaymentEnd } from '../rails/payment-store.ts';
import type { FileState } from './file-store.ts';
import { idOf, plainId, uetrOf } from './ids.ts';
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
  payment: KnownPayment | undefined,
  report: StatusReport,
): Finding | undefined {
  const { endToEndId = status.uetr ?? 'none', code, meaning, units, statedAmount, reason } = status;
  const about = { sourceKey: `${report.originalMessageId} ${endToEndId} ${code}` };
  const file = `file ${report.originalMessageId}`;
  if (payment === undefined)
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
  if (meaning === 'blocked')
    return {
      ...about,
      kind: 'BLOCKED',
      finding: `The bank of the payee has blocked ${endToEndId} (${code}): the money has left, and neither reaches the payee nor returns.`,
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
function stateAfter(about: Status | undefined, current: FileState): FileState | undefined {
  const isAnswered = ['ACKNOWLEDGED', 'PART', 'REJECTED', 'HELD'].includes(current);
  switch (about?.meaning) {
    case 'refused':
      if (current === 'HELD') return undefined;
      return current === 'ACKNOWLEDGED' || current === 'PART' ? 'PART' : 'REJECTED';
    case 'duplicate':
      return isAnswered ? undefined : 'ASKED';
    case 'part':
      return current === 'REJECTED' || current === 'HELD' ? undefined : 'PART';
    default:
      return isAnswered ? undefined : 'ACKNOWLEDGED';
  }
}

/** The payment that a status names. Two names of different payments name none. */
function paymentOf(
  { endToEndId, uetr }: Pick<TransferStatus, 'endToEndId' | 'uetr'>,
  payments: ReadonlyMap<string, KnownPayment>,
): KnownPayment | undefined {
  const key =
    endToEndId === undefined ? [...payments.keys()].find((one) => uetrOf(one) === uetr) : idOf(endToEndId);
  const payment = key === undefined ? undefined : payments.get(key);
  return payment === undefined || uetr === undefined || uetrOf(payment.key) === uetr ? payment : undefined;
}

type TransferEffects = {
  readonly ends: Map<string, PaymentEnd>;
  readonly findings: Finding[];
  /** Payments that the report names. */
  readonly mentioned: ReadonlySet<string>;
};

function decideTransfers(report: StatusReport, payments: ReadonlyMap<string, KnownPayment>): TransferEffects {
  const findings: Finding[] = [];
  const ends = new Map<string, PaymentEnd>();
  const mentioned = new Set<string>();
  const contradicted = new Set<string>();
  for (const status of report.transfers) {
    const payment = paymentOf(status, payments);
    if (payment !== undefined) mentioned.add(payment.key);
    const finding = findingAbout(status, payment, report);
    if (finding !== undefined)
      findings.push({ ...finding, sourceKey: `${finding.sourceKey} ${finding.kind}` });
    // A contradiction is reported like an outcome, too: the service records it with the withdrawal.
    if (payment === undefined || (finding !== undefined && finding.kind !== 'CONTRADICTION')) continue;
    const end = endOf(payment.key, status);
    const earlier = ends.get(payment.key);
    if (end === undefined || contradicted.has(payment.key)) continue;
    if (earlier === undefined) ends.set(payment.key, end);
    else if (earlier.state !== end.state) {
      ends.delete(payment.key);
      contradicted.add(payment.key);
      findings.push({
        sourceKey: `${report.messageId} ${plainId(payment.key)} both`,
        kind: 'CONTRADICTION',
        finding: `One status report has ${plainId(payment.key)} both as paid and as refused. It has no effect.`,
      });
    }
  }
  return { ends, findings, mentioned };
}

/** The status of the whole file: its own, or that of its only payment. */
function statusOfFile(
  { group, transfers }: StatusReport,
  payments: ReadonlyMap<string, KnownPayment>,
  { mentioned }: TransferEffects,
): Status | undefined {
  const isWhole = payments.size === 1 && mentioned.size === 1 && transfers.length === 1;
  return group ?? (isWhole ? transfers[0] : undefined);
}

function groupFinding({ group, originalMessageId }: StatusReport): Finding[] {
  if (group?.meaning !== 'duplicate' && group?.meaning !== 'unknown' && group?.meaning !== 'blocked')
    return [];
  const { code, meaning, reason } = group;
  const sourceKey = `${originalMessageId} ${code} ${meaning}`;
  if (meaning === 'duplicate')
    return [
      {
        sourceKey,
        kind: 'DUPLICATE',
        finding: `The bank refused file ${originalMessageId} as a duplicate (${reason}). Its payments stay open: ask the bank about the first copy.`,
      },
    ];
  if (meaning === 'blocked')
    return [
      {
        sourceKey,
        kind: 'BLOCKED',
        finding: `The bank of the payee has blocked the payment of ${originalMessageId} (${code}).`,
      },
    ];
  return [
    {
      sourceKey,
      kind: 'UNKNOWN_STATUS',
      finding: `The bank reports the unknown status ${code} for file ${originalMessageId}.`,
    },
  ];
}

export function decideStatuses(
  report: StatusReport,
  current: FileState,
  /** Of the file. */
  payments: ReadonlyMap<string, KnownPayment>,
  rejectedFiles: 'fail' | 'hold' = 'fail',
): StatusEffects {
  const effects = decideTransfers(report, payments);
  const { ends, mentioned } = effects;
  const { group, originalMessageId } = report;
  const findings = [...effects.findings, ...groupFinding(report)];
  const isOpen = [...payments.values()].every(({ state }) => state === 'ACCEPTED');
  if (rejectedFiles === 'hold' && group?.meaning === 'refused' && mentioned.size === 0 && isOpen)
    return {
      ends: [],
      findings: [
        ...findings,
        {
          sourceKey: `held ${originalMessageId}`,
          kind: 'FILE_REFUSED',
          finding: `The bank refused all of file ${originalMessageId}${group.reason === undefined ? '' : ` (${group.reason})`}. Its payments wait: send them again with "ferry bank resend --as-new", or fail them with "ferry bank reject".`,
        },
      ],
      fileState: current === 'REJECTED' ? undefined : 'HELD',
    };
  if (group !== undefined && (current !== 'HELD' || group.meaning === 'settled'))
    for (const { key, state } of payments.values()) {
      const end = mentioned.has(key) || state !== 'ACCEPTED' ? undefined : endOf(key, group);
      if (end !== undefined) ends.set(key, end);
    }
  const about = statusOfFile(report, payments, effects);
  return { ends: [...ends.values()], findings, fileState: stateAfter(about, current) };
}
