import type { Database, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { type KnownPayment, knownPayments, releasePayments } from '../rails/payment-store.ts';
import { applyEnds, newEnds } from './ends.ts';
import { clockOf, emptyFile, findFileByName, type KnownFile, keysOfFile, moveFile } from './file-store.ts';

/** What an operator decides about a file. */
export type Verdict =
  /** The bank does not have the file: the same bytes are uploaded again, under the same message id. Only if it is ASKED. */
  | { readonly kind: 'resend' }
  /** The bank has refused all of the file: its payments go into another file, under another message id. Only if it is HELD. */
  | { readonly kind: 'resend as new' }
  /** The bank will never execute it: its payments fail, and the money returns. If it is ASKED or HELD. */
  | { readonly kind: 'reject'; readonly reason: string };

export type Decided =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'not decidable'; readonly state: KnownFile['state'] }
  /** The bank has refused the file, and paid or refused one of its payments as well. */
  | { readonly kind: 'contradicted'; readonly key: string }
  | { readonly kind: 'decided'; readonly payments: number };

const FROM: Readonly<Record<Verdict['kind'], readonly KnownFile['state'][]>> = {
  resend: ['ASKED'],
  'resend as new': ['HELD'],
  reject: ['ASKED', 'HELD'],
};

type Step = {
  readonly file: NonNullable<Awaited<ReturnType<typeof findFileByName>>>;
  readonly payments: ReadonlyMap<string, KnownPayment>;
  readonly now: Instant;
};

/**
 * Exactly once: the file leaves HELD in the transaction that releases its payments, and HELD is only entered when the bank has
 * refused the file as a whole.
 */
async function resendAsNew(tx: Transaction, { file, payments, now }: Step): Promise<Decided> {
  const ended = [...payments.values()].find(({ state }) => state !== 'ACCEPTED');
  if (ended !== undefined) return { kind: 'contradicted', key: ended.key };
  await emptyFile(tx, file.id);
  await releasePayments(tx, [...payments.keys()], now);
  const detail = 'its payments were sent again in another file by an operator';
  await moveFile(tx, file.id, { from: ['HELD'], to: 'REJECTED', detail }, now);
  return { kind: 'decided', payments: payments.size };
}

async function reject(tx: Transaction, { file, payments, now }: Step, reason: string): Promise<Decided> {
  const ends = [...payments.keys()].map((key) => ({
    key,
    state: 'FAILED' as const,
    detail: 'The bank did not execute the payment.',
  }));
  const open = newEnds(ends, payments).filter(({ key }) => payments.get(key)!.state === 'ACCEPTED');
  await applyEnds(tx, { rail: file.rail, now }, open);
  const detail = `rejected by an operator: ${reason}`;
  await moveFile(tx, file.id, { from: FROM.reject, to: 'REJECTED', detail }, now);
  return { kind: 'decided', payments: open.length };
}

export function decideFile(database: Database, name: string, verdict: Verdict): Promise<Decided> {
  return database.transaction(async (tx): Promise<Decided> => {
    const file = await findFileByName(tx, name);
    if (file === undefined) return { kind: 'unknown' };
    if (!FROM[verdict.kind].includes(file.state)) return { kind: 'not decidable', state: file.state };
    const now = await clockOf(tx);
    const payments = await knownPayments(tx, file.rail, await keysOfFile(tx, file.id));
    const step = { file, payments, now };
    if (verdict.kind === 'reject') return reject(tx, step, verdict.reason);
    if (verdict.kind === 'resend as new') return resendAsNew(tx, step);
    await moveFile(tx, file.id, { from: ['ASKED'], to: 'MADE', detail: 'sent again by an operator' }, now);
    return { kind: 'decided', payments: payments.size };
  });
}
