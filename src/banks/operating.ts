import type { Database } from '../database/database.ts';
import { knownPayments } from '../rails/payment-store.ts';
import { applyEnds, newEnds } from './ends.ts';
import { clockOf, findFileByName, type KnownFile, keysOfFile, moveFile } from './file-store.ts';

/** What an operator decides about a file after asking the bank. Only for files that are ASKED. */
export type Verdict =
  /** The bank does not have the file: the same bytes are uploaded again, under the same message id. */
  | { readonly kind: 'resend' }
  /** The bank will never execute it: its payments fail, and the money returns. */
  | { readonly kind: 'reject'; readonly reason: string };

export type Decided =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'not asked'; readonly state: KnownFile['state'] }
  | { readonly kind: 'decided'; readonly payments: number };

export function decideFile(database: Database, name: string, verdict: Verdict): Promise<Decided> {
  return database.transaction(async (tx): Promise<Decided> => {
    const file = await findFileByName(tx, name);
    if (file === undefined) return { kind: 'unknown' };
    if (file.state !== 'ASKED') return { kind: 'not asked', state: file.state };
    const now = await clockOf(tx);
    const payments = await knownPayments(tx, file.rail, await keysOfFile(tx, file.id));
    if (verdict.kind === 'resend') {
      await moveFile(tx, file.id, { from: ['ASKED'], to: 'MADE', detail: 'sent again by an operator' }, now);
      return { kind: 'decided', payments: payments.size };
    }
    const ends = [...payments.keys()].map((key) => ({
      key,
      state: 'FAILED' as const,
      detail: 'The bank did not execute the payment.',
    }));
    const open = newEnds(ends, payments).filter(({ key }) => payments.get(key)!.state === 'ACCEPTED');
    await applyEnds(tx, { rail: file.rail, now }, open);
    const detail = `rejected by an operator: ${verdict.reason}`;
    await moveFile(tx, file.id, { from: ['ASKED'], to: 'REJECTED', detail }, now);
    return { kind: 'decided', payments: open.length };
  });
}
