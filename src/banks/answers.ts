import { createHash } from 'node:crypto';
import { newId } from '../kernel/id.ts';
import { type Answer, readAnswer } from './answer.ts';
import { applyAnswer } from './applying.ts';
import { UnacceptableFile } from './document.ts';
import { fenced } from './lease-store.ts';
import type { BankParts } from './parts.ts';
import { insertFindings, insertReceived, isReceived } from './received-store.ts';

/** The same message again, under any name, has no effect. An unacceptable one is kept with the reason, and has none either. */
export async function takeAnswer(parts: BankParts, name: string, bytes: Buffer): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail } = settings;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (await isReceived(database, rail, sha256)) return;
  let answer: Answer | undefined;
  let error: string | null = null;
  try {
    answer = await readAnswer(bytes, settings);
  } catch (thrown) {
    if (!(thrown instanceof UnacceptableFile)) throw thrown;
    error = thrown.message;
  }
  const id = newId();
  const found = await fenced(database, lease, async (tx) => {
    if (await isReceived(tx, rail, sha256)) return [];
    const now = clock.now();
    await insertReceived(tx, { id, rail, name, sha256, bytes, message: answer?.name ?? null, error }, now);
    const findings =
      answer === undefined ? [] : await applyAnswer(tx, answer, { settings, receivedId: id, now });
    return insertFindings(tx, rail, findings, id, now);
  });
  if (error !== null)
    log.error({ rail, name, why: error }, 'a file of the bank was set aside: nothing of it was booked');
  else log.info({ rail, name, message: answer!.name }, 'took a file of the bank');
  for (const { finding } of found) log.error({ rail, name, finding }, 'a file of the bank needs an operator');
}

/** A file that is too large to take. It stays where it is. */
export async function refuseLarge(parts: BankParts, name: string, size: number): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail } = settings;
  const sha256 = `too large: ${name} ${size}`;
  if (await isReceived(database, rail, sha256)) return;
  const error = `it has ${size} bytes, more than are read`;
  await fenced(database, lease, (tx) =>
    insertReceived(tx, { id: newId(), rail, name, sha256, bytes: null, message: null, error }, clock.now()),
  );
  log.error({ rail, name, size }, 'a file of the bank is too large to read, and stays where it is');
}
