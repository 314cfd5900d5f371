import { createHash } from 'node:crypto';
import { type Arrival, readPacs004, readPacs008 } from './arrivals.ts';
import { type AccountReport, type Entry, readCamt } from './camt.ts';
import { type MessageName, type ReadDocument, readDocument, UnacceptableFile } from './document.ts';
import { plainAccount } from './ids.ts';
import { readPacs002 } from './pacs002.ts';
import { readPain002, type StatusReport } from './pain002.ts';
import type { BankSettings } from './settings.ts';

/** A message of the bank, as far as it matters to the money. */
export type Answer = { readonly name: MessageName } & (
  | { readonly statuses: readonly StatusReport[] }
  | { readonly reports: readonly AccountReport[] }
  | { readonly arrival: Arrival }
);

function checkAccount({ account, currency }: AccountReport, settings: BankSettings): void {
  if (plainAccount(account) !== plainAccount(settings.debtor.account))
    throw new UnacceptableFile(
      `it is about the account …${account.slice(-4)}, which is not that of this rail`,
    );
  if (currency !== undefined && currency !== settings.currency.code)
    throw new UnacceptableFile(
      `its account is in ${currency}, and that of this rail in ${settings.currency.code}`,
    );
}

/** Entries of a statement that the bank gives no reference: what they say is their name, and which of several equal ones they are. */
function namedByContent(entries: readonly Entry[]): Entry[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    if (entry.reference !== undefined) return entry;
    const { direction, units, bookedOn, endToEndId, texts, sender } = entry;
    const content = JSON.stringify([direction, units.toString(), bookedOn, endToEndId, texts, sender]);
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 24);
    const count = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, count);
    return { ...entry, reference: `no reference ${digest} ${count}`, isNamedByContent: true };
  });
}

/** The names of entries for all time, which depend on what the bank promises. */
function namedEntries(
  { entries }: AccountReport,
  isStatement: boolean,
  { messages, referencesRepeat, withoutReference }: BankSettings,
): readonly Entry[] {
  // The messages that brought the money have the same name, so that neither is booked twice.
  if (messages !== 'pain.001') return entries.map((entry) => ({ ...entry, reference: entry.messageId }));
  const dated = referencesRepeat
    ? entries.map((entry) =>
        entry.reference === undefined
          ? entry
          : { ...entry, reference: `${entry.bookedOn}/${entry.reference}` },
      )
    : entries;
  return withoutReference === 'statement' && isStatement ? namedByContent(dated) : dated;
}

/** Throws UnacceptableFile. */
export async function readAnswer(bytes: Uint8Array, settings: BankSettings): Promise<Answer> {
  const { currency, debtor, messages } = settings;
  const { name, message }: ReadDocument = await readDocument(bytes);
  if (name.startsWith('pacs.') && messages === 'pain.001')
    throw new UnacceptableFile(`it is a ${name}, which only banks exchange, and messages is "pain.001"`);
  switch (name) {
    case 'pain.002':
      return { name, statuses: [readPain002(message, currency)] };
    case 'pacs.002':
      return { name, statuses: readPacs002(message, currency) };
    case 'pacs.004':
      return { name, arrival: readPacs004(message, currency) };
    case 'pacs.008': {
      const isOwn = (account: string): boolean => plainAccount(account) === plainAccount(debtor.account);
      return { name, arrival: readPacs008(message, currency, isOwn) };
    }
    case 'camt.053':
    case 'camt.054': {
      const reports = readCamt(name, message, currency);
      for (const report of reports) checkAccount(report, settings);
      return {
        name,
        reports: reports.map((one) => ({
          ...one,
          entries: namedEntries(one, name === 'camt.053', settings),
        })),
      };
    }
    default:
      throw new Error(`readDocument accepts no ${String(name satisfies never)}`);
  }
}
