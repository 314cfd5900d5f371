import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { plainId, uetrOf } from '../../src/banks/ids.ts';
import { orderText, payableOf } from '../../src/banks/orders.ts';
import { notification, statement, statusReport } from '../../src/banks/sandbox-messages.ts';
import { fedReturn, fedStatus } from '../../src/banks/sandbox-pacs.ts';
import { paymentFor, settingsFor } from './bank-world.ts';

/** The examples of the guide are messages that Ferry and the sandbox bank make, with lines broken for people. */
const KEY = '01995b3c-7a10-7c3e-9d2f-0123456789ab';
const FILE = '01995b3c-8000-7000-8000-000000000001';
const at = '2026-11-16T15:00:00Z';
const day = '2026-11-16';
const ACCOUNT = '000987654321';
const order = { messageId: plainId(FILE), paymentInformationId: `${plainId(FILE)}-1` };
const account = { at, account: ACCOUNT, currency: 'USD' };
const debit = {
  reference: 'B-1001',
  direction: 'DBIT',
  amount: '10000.00',
  bookedOn: day,
  endToEndId: plainId(KEY),
} as const;
const credit = {
  reference: 'B-1002',
  direction: 'CRDT',
  amount: '50.50',
  bookedOn: day,
  text: 'Invoice 7 NZ4T BTPR JKQ5',
  sender: 'Grace Hopper',
} as const;
const fedwire = settingsFor('/unused', { messages: 'fedwire', input_source: 'B1QDRCQR' });
const head = { network: 'fedwire', id: '20261116SANDBANK000007', at, own: '021000021' } as const;
const sent = '20261116B1QDRCQR000001';
const orderOf = (messageId: string, settings: ReturnType<typeof settingsFor>): string =>
  orderText(
    {
      messageId,
      createdAtNs: 1_794_841_200_000_000_000n,
      executionDate: day,
      transfers: [payableOf(paymentFor(KEY, '10000'), settings)],
    },
    settings,
  );

const EXAMPLES: readonly [string, string][] = [
  ['pain.001', orderOf(order.messageId, settingsFor('/unused'))],
  [
    'pain.002',
    statusReport({ id: 'PSR1', at, order, statuses: [{ endToEndId: plainId(KEY), code: 'ACSC' }] }),
  ],
  ['camt.054', notification({ ...account, id: 'NTF1', entries: [debit] })],
  [
    'camt.053',
    statement({
      ...account,
      id: 'STM1',
      day,
      opening: { amount: '20000.00', direction: 'CRDT' },
      closing: { amount: '10050.50', direction: 'CRDT' },
      entries: [debit, credit],
    }),
  ],
  ['pacs.008', orderOf(sent, fedwire)],
  [
    'pacs.002',
    fedStatus(head, { messageId: sent, name: 'pacs.008.001.08', uetr: uetrOf(KEY) }, { code: 'ACSC' }),
  ],
  [
    'pacs.004',
    fedReturn(head, {
      messageId: sent,
      endToEndId: plainId(KEY),
      uetr: uetrOf(KEY),
      amount: '10000.00',
      day,
      account: ACCOUNT,
      creditor: 'Ada Lovelace',
      reason: 'AC04',
    }),
  ],
];

/** A line for each element that has a text, and for the ends of those that have elements; indented. */
function broken(text: string): string {
  const lines: string[] = [];
  let depth = 0;
  for (const [tag] of text.split('\n')[1]!.matchAll(/<[^/>]+>[^<]+<\/[^>]+>|<[^>]+>/g)) {
    if (tag.startsWith('</')) depth -= 1;
    lines.push(`${'  '.repeat(depth)}${tag}`);
    if (/^<[^/][^>]*>$/.test(tag)) depth += 1;
  }
  return lines.join('\n');
}

const page = readFileSync(new URL('../../docs/bank-messages.md', import.meta.url), 'utf8');

it.each(EXAMPLES)('the example of a %s in the docs is the message that is made', (name, text) => {
  const [, example] =
    new RegExp(`\`\`\`xml\\n(<Document xmlns="[^"]*:${name}\\.[\\s\\S]*?)\\n\`\`\``).exec(page) ?? [];
  expect(example).toBe(broken(text));
});
