import { createHash } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import {
  anyFrozen,
  type PaymentEnd,
  releasePayments,
  takePayments,
  waitingPayments,
  waitingSince,
} from '../rails/payment-store.ts';
import type { Payment } from '../rails/rail.ts';
import { executionDate, isBeforeCutOff } from './calendar.ts';
import type { CreditTransfer } from './credit-transfer.ts';
import { applyEnds } from './ends.ts';
import {
  emptyFile,
  type FileToSend,
  insertFile,
  keysOfFile,
  moveFile,
  nextNumber,
  nextToSend,
} from './file-store.ts';
import { plainId } from './ids.ts';
import { fenced } from './lease-store.ts';
import {
  FEDWIRE_NUMBERS,
  fednowMessageId,
  fedwirePrefix,
  fileNameOf,
  orderText,
  payableOf,
} from './orders.ts';
import type { BankParts } from './parts.ts';
import { Unpayable } from './party.ts';
import type { BankSettings } from './settings.ts';
import { joined, type Session } from './transport.ts';

/** Payments that wait are due: enough for a file, for long enough, or just before the cut-off. */
async function isDue({ database, settings, clock }: BankParts): Promise<boolean> {
  const { rail, batchPaymentsMax, batchMs, calendar } = settings;
  const { count, sinceNs } = await waitingSince(database, rail, batchPaymentsMax);
  if (sinceNs === null) return false;
  const now = clock.now();
  return (
    count >= batchPaymentsMax ||
    now - sinceNs >= BigInt(batchMs) * NS_PER_MS ||
    isBeforeCutOff(now, calendar, BANK_LIMITS.beforeCutOffMs)
  );
}

type Sorted = { readonly transfers: CreditTransfer[]; readonly unpayable: PaymentEnd[] };

/** `submit` refuses what cannot be written, so only a change of the rules or of the configuration makes a payment unpayable. */
function sorted(payments: readonly Payment[], settings: BankSettings): Sorted {
  const result: Sorted = { transfers: [], unpayable: [] };
  for (const payment of payments) {
    try {
      result.transfers.push(payableOf(payment, settings));
    } catch (error) {
      if (!(error instanceof Unpayable)) throw error;
      result.unpayable.push({ key: payment.key, state: 'FAILED', detail: error.message });
    }
  }
  return result;
}

/** The id that the network prescribes; null if it prescribes none. */
async function messageIdOf(
  tx: Transaction,
  id: string,
  date: string,
  { messages, rail, debtor, inputSource }: BankSettings,
): Promise<string | null> {
  if (messages === 'pain.001') return null;
  if (messages === 'fednow') return fednowMessageId(id, date, debtor);
  const prefix = fedwirePrefix(date, inputSource!);
  const number = await nextNumber(tx, rail, prefix);
  return `${prefix}${String(number).padStart(FEDWIRE_NUMBERS, '0')}`;
}

/** Commits the next file, with its bytes. From then on its payments belong to this file. True if one was made. */
export async function makeFile(parts: BankParts): Promise<boolean> {
  if (!(await isDue(parts))) return false;
  const { database, settings, clock, lease, checkpoint, log } = parts;
  const { rail, batchPaymentsMax, messages, calendar } = settings;
  const made = await fenced(database, lease, async (tx) => {
    const payments = await waitingPayments(tx, rail, batchPaymentsMax);
    if (payments.length === 0) return undefined;
    const id = newId();
    const now = clock.now();
    const { transfers, unpayable } = sorted(payments, settings);
    if (unpayable.length > 0) await applyEnds(tx, { rail, now }, unpayable);
    if (transfers.length === 0) return undefined;
    const date = executionDate(now, calendar);
    const messageId = await messageIdOf(tx, id, date, settings);
    const text = orderText(
      { messageId: messageId ?? plainId(id), createdAtNs: now, executionDate: date, transfers },
      settings,
    );
    const file = {
      id,
      rail,
      name: fileNameOf(id, messages),
      messageId,
      text,
      sha256: createHash('sha256').update(text).digest('hex'),
      executionDate: date,
      madeAtNs: now,
      payments: transfers,
    };
    await takePayments(
      tx,
      transfers.map(({ key }) => key),
      now,
    );
    await insertFile(tx, file);
    await checkpoint?.('before a file is committed');
    return { name: file.name, payments: transfers.length, executionDate: date };
  });
  if (made === undefined) return false;
  log.info({ rail, ...made }, 'made a file of payments');
  await checkpoint?.('a file is committed');
  return true;
}

const DISSOLVED = 'Not sent: a party to one of its payments was frozen. The others wait for the next file.';

/** Puts the bytes at the bank under a name that it ignores, and commits that: until then nothing can have been read. */
async function stage(parts: BankParts, session: Session, file: FileToSend): Promise<string | undefined> {
  const { database, settings, clock, lease, checkpoint } = parts;
  const { id, name, text, sha256 } = file;
  const bytes = Buffer.from(text);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`the stored bytes of ${name} do not have the stored hash: it is not sent`);
  // New for each attempt: two nodes never write into the same file.
  const stagedAs = `${name}.${plainId(newId())}.tmp`;
  await session.write(joined(settings.outgoing, stagedAs), bytes);
  await checkpoint?.('its bytes are at the bank');
  const isMoved = await fenced(database, lease, async (tx) => {
    // The transaction that lets the file go out finds no freeze. Whoever freezes waits for it, and then for the upload.
    const keys = await keysOfFile(tx, id);
    if (!(await anyFrozen(tx, keys)))
      return moveFile(tx, id, { from: ['MADE'], to: 'STAGED', stagedAs }, clock.now());
    if (await moveFile(tx, id, { from: ['MADE'], to: 'DISSOLVED', detail: DISSOLVED }, clock.now())) {
      await releasePayments(tx, keys, clock.now());
      await emptyFile(tx, id);
    }
    return false;
  });
  await checkpoint?.('its staging is committed');
  return isMoved ? stagedAs : undefined;
}

/**
 * Uploads a file once. Only after the staging is committed is the file renamed, and only a rename takes the staged name away. So
 * after a crash a missing staged name means that the bank can read the file, or has taken it: it is never sent a second time.
 */
async function upload(parts: BankParts, session: Session, file: FileToSend): Promise<void> {
  const { database, settings, clock, lease, checkpoint, log } = parts;
  const { outgoing, rail } = settings;
  const stagedAs = file.state === 'STAGED' ? file.stagedAs! : await stage(parts, session, file);
  // An answer of the bank has moved the file on, or it was dissolved.
  if (stagedAs === undefined) return;
  if (await session.exists(joined(outgoing, stagedAs)))
    await session.rename(joined(outgoing, stagedAs), joined(outgoing, file.name));
  await checkpoint?.('the bank can read it');
  await fenced(database, lease, (tx) =>
    moveFile(tx, file.id, { from: ['STAGED'], to: 'UPLOADED' }, clock.now()),
  );
  log.info({ rail, name: file.name }, 'uploaded a file of payments');
  await checkpoint?.('its upload is committed');
}

/** Uploads every file that waits, in the order in which they were made. `renew` keeps the lease. */
export async function sendFiles(
  parts: BankParts,
  session: Session,
  renew: () => Promise<void>,
): Promise<number> {
  let sent = 0;
  let after: string | undefined;
  for (;;) {
    const file = await nextToSend(parts.database, parts.settings.rail, after);
    if (file === undefined) return sent;
    await renew();
    await upload(parts, session, file);
    after = file.id;
    sent += 1;
  }
}
