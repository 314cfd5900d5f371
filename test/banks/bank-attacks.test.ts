import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { notification } from '../../src/banks/sandbox-messages.ts';
import { BANK_LIMITS } from '../../src/limits-banks.ts';
import { IS_LONG } from '../support/rounds.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

let world: BankWorld;
beforeAll(async () => {
  world = await createBankWorld();
});
afterAll(() => world.remove());

const good = notification({
  id: 'n',
  at: '2026-11-16T10:00:00Z',
  account: OWN_ACCOUNT,
  currency: 'USD',
  entries: [{ reference: 'R1', direction: 'CRDT', amount: '5.00', bookedOn: '2026-11-16', text: 'x' }],
});
const inside = (text: string): string => good.replace('<Ustrd>x</Ustrd>', `<Ustrd>${text}</Ustrd>`);
const declared = (doctype: string, text = good): string => text.replace('?>\n', `?>\n${doctype}\n`);
const utf16 = Buffer.from(good.replace('UTF-8', 'UTF-16'), 'utf16le');

const ATTACKS: [string, string | Buffer, RegExp][] = [
  [
    'an external entity',
    declared('<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]>', inside('&e;')),
    /not acceptable XML/,
  ],
  [
    'a bomb of entities',
    declared(
      '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
      inside('&b;'),
    ),
    /not acceptable XML/,
  ],
  ['an entity without a declaration', inside('&nbsp;'), /entity &nbsp; is not accepted/],
  ['a processing instruction', declared('<?xml-stylesheet href="http://x"?>'), /not acceptable XML/],
  [
    'a quadratic bomb',
    declared(`<!DOCTYPE d [<!ENTITY a "${'a'.repeat(100_000)}">]>`, inside('&a;'.repeat(1_000))),
    /not acceptable XML/,
  ],
  ['an external document type', declared('<!DOCTYPE d SYSTEM "http://x/d.dtd">'), /not acceptable XML/],
  [
    'parameter entities',
    declared('<!DOCTYPE d [<!ENTITY % p SYSTEM "file:///x">%p;]>'),
    /not acceptable XML/,
  ],
  [
    'an amount in huge digits',
    good.replaceAll('>5.00<', `>${'9'.repeat(1_000_000)}.00<`),
    /entry 1 must have/,
  ],
  ['elements nested deeply', inside('<a>'.repeat(100) + '</a>'.repeat(100)), /nested deeper/],
  [
    'millions of elements',
    inside('<a/>'.repeat(3 * BANK_LIMITS.receivedElementsMax)),
    /more than 1500000 elements/,
  ],
  ['another encoding', utf16, /not text in UTF-8|not acceptable/],
  ['the mark of UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), /not text in UTF-8/],
  ['the mark of UTF-16, swapped', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16]), /not text in UTF-8/],
  ['UTF-7 that is only claimed', good.replace('UTF-8', 'UTF-7'), /encoding must be UTF-8/],
  ['a mark of UTF-8 in its middle', good.replace('<Ntry>', '<Ntry>\ufeff<'), /not acceptable XML/],
  ['two marks of UTF-8', `\ufeff\ufeff${good}`, /not acceptable XML/],
  ['another encoding that is only claimed', good.replace('UTF-8', 'ISO-8859-1'), /encoding must be UTF-8/],
  [
    'bytes that are no UTF-8',
    Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe])]),
    /not text in UTF-8/,
  ],
  ['another namespace', good.replace('camt.054.001.08', 'evil.001.001.01'), /no message of ISO 20022/],
  ['a message that is not read', good.replace('camt.054.001.08', 'pain.013.001.07'), /it is a pain.013/],
  [
    'an entry in another namespace',
    good.replace('<Ntry>', '<Ntry xmlns="urn:evil">'),
    /<Ntry> declares another namespace/,
  ],
  [
    'its namespace on another prefix than its elements have',
    good.replace('<Document xmlns=', '<Document xmlns:a='),
    /no message of ISO 20022/,
  ],
  [
    'its namespace on a child instead of the root',
    good
      .replace(/<Document xmlns="([^"]*)">/, '<Document>')
      .replace(
        '<BkToCstmrDbtCdtNtfctn>',
        '<BkToCstmrDbtCdtNtfctn xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08">',
      ),
    /no message of ISO 20022/,
  ],
  [
    'an amount with another prefix',
    good.replaceAll('<Amt ', '<x:Amt ').replaceAll('</Amt>', '</x:Amt>'),
    /<Amt> is in another namespace/,
  ],
  [
    'a name that does not fit its namespace',
    good.replaceAll('BkToCstmrDbtCdtNtfctn', 'BkToCstmrStmt'),
    /must have one <BkToCstmrDbtCdtNtfctn>/,
  ],
  ['a document that ends early', good.slice(0, good.length / 2), /not acceptable XML/],
  ['two documents', good + good.split('\n')[1]!, /one root element|not acceptable XML/],
  ['nothing', '', /not acceptable XML/],
  ['a negative amount', good.replaceAll('>5.00<', '>-5.00<'), /entry 1 must have an amount in USD/],
  ['an amount with an exponent', good.replaceAll('>5.00<', '>5e9<'), /entry 1 must have an amount in USD/],
  [
    'an amount with too many decimals',
    good.replaceAll('>5.00<', '>5.001<'),
    /entry 1 must have an amount in USD/,
  ],
  ['no direction', good.replaceAll('<CdtDbtInd>CRDT</CdtDbtInd>', ''), /must be CRDT or DBIT/],
  ['a control character', inside('a\u0000b'), /characters that XML does not have/],
];

/** The reader of XML is tested with fewer elements and a lower bound as well. */
const usual = ATTACKS.filter(([name]) => IS_LONG || name !== 'millions of elements');

it.each(usual)(
  'a file with %s is kept aside with the reason, and nothing is booked',
  async (_, content, reason) => {
    writeFileSync(join(world.directories.root, 'incoming', 'attack.xml'), content);
    await world.worker.turn();
    await world.worker.turn();
    const [row] = await world.database.query<{ error: string; sealed: boolean }>(
      `select error, bytes is not null as sealed from bank_received order by received_at_ns desc, id desc limit 1`,
    );
    expect(row!.error).toMatch(reason);
    expect(row!.sealed).toBe(true);
    expect(await world.collect()).toEqual([]);
    expect(await world.database.query('select 1 from bank_entries')).toEqual([]);
    expect(world.directories.list('incoming')).toEqual([]);
  },
);

it('a message whose elements all have one prefix is the same message', async () => {
  const prefixed = good
    .replaceAll(/<(\/?)([A-Z])/g, '<$1iso:$2')
    .replace('xmlns=', 'xmlns:iso=')
    .replaceAll('R1', 'R-prefixed');
  writeFileSync(join(world.directories.root, 'incoming', 'prefixed.xml'), prefixed);
  for (let turn = 0; turn < 2; turn += 1) await world.worker.turn();
  expect(await world.collect()).toMatchObject([{ about: 'deposit', deposit: { reference: 'R-prefixed' } }]);
});

it('a huge text in an entry is cut for people, and books the entry', async () => {
  const huge = inside('y'.repeat(5_000_000)).replaceAll('R1', 'R-huge');
  writeFileSync(join(world.directories.root, 'incoming', 'huge-text.xml'), huge);
  for (let turn = 0; turn < 2; turn += 1) await world.worker.turn();
  const [notice] = await world.collect();
  expect(notice).toMatchObject({ about: 'deposit', deposit: { reference: 'R-huge' } });
  expect(JSON.stringify(notice, (_, value) => (typeof value === 'bigint' ? '' : value)).length).toBeLessThan(
    2_000,
  );
});

it('a file that is larger than is read stays where it is, and does not stop the others', async () => {
  writeFileSync(
    join(world.directories.root, 'incoming', 'huge.xml'),
    Buffer.alloc(BANK_LIMITS.receivedBytesMax + 1, 32),
  );
  writeFileSync(join(world.directories.root, 'incoming', 'good.xml'), `\ufeff${good}`);
  for (let turn = 0; turn < 3; turn += 1) await world.worker.turn();
  expect(world.directories.list('incoming')).toEqual(['huge.xml']);
  expect(await world.collect()).toMatchObject([{ about: 'deposit' }]);
});
