import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditTransferOf } from '../../src/banks/credit-transfer.ts';
import { plainId, uetrOf } from '../../src/banks/ids.ts';
import { orderText, payableOf } from '../../src/banks/orders.ts';
import { notification, statement, statusReport } from '../../src/banks/sandbox-messages.ts';
import { fedReturn, fedStatus } from '../../src/banks/sandbox-pacs.ts';
import { newId } from '../../src/kernel/id.ts';
import { readXml, type XmlNode } from '../../src/kernel/xml-reader.ts';
import { institution, swift, wire } from '../support/fiat-accounts.ts';
import { OWN_ACCOUNT, paymentFor, settingsFor } from './bank-world.ts';

/** Prowide, a library in Java whose classes are made from the official schemas. Only some machines have it: `.ci/run` gets it. */
const JARS = process.env.FERRY_TEST_PROWIDE ?? '';
const HAS_PROWIDE = JARS !== '' && existsSync(JARS);
if (!HAS_PROWIDE)
  console.warn(
    'NOT RUN: the second parser of messages. FERRY_TEST_PROWIDE must name the directory of its jars.',
  );

type Values = Readonly<Record<string, readonly string[]>>;

async function readBoth(texts: readonly string[]): Promise<Values[]> {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-prowide-'));
  try {
    const files = texts.map((text, index) => {
      const path = join(directory, `${index}.xml`);
      writeFileSync(path, text);
      return path;
    });
    const program = join(import.meta.dirname, 'prowide/Read.java');
    const { stdout } = await promisify(execFile)('java', ['-cp', `${JARS}/*`, program, ...files], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Values);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Every value that was written, under the path that Prowide gives it. It takes dates apart, so they are left out. */
function valuesOf(root: XmlNode): Map<string, string[]> {
  const values = new Map<string, string[]>();
  const visit = (node: XmlNode, path: string): void => {
    const here = `${path}/${node.name.toLowerCase()}`;
    for (const child of node.children) visit(child, here);
    if (node.children.length > 0 || /Dt(Tm)?$/.test(node.name)) return;
    const name = node.attributes.has('Ccy') ? `${here}/value` : here;
    values.set(name, [...(values.get(name) ?? []), node.text]);
  };
  for (const child of root.children) visit(child, '');
  return values;
}

function expectSame(text: string, read: Values): void {
  const found = new Map(Object.entries(read).map(([path, values]) => [path.toLowerCase(), values]));
  for (const [path, values] of valuesOf(readXml(text, { depthMax: 50, elementsMax: 100_000 })))
    expect([path, found.get(path)]).toEqual([path, values]);
}

const at = '2026-11-16T10:00:00Z';
const day = '2026-11-16';
const settings = {
  'pain.001': settingsFor('/unused'),
  fedwire: settingsFor('/unused', { messages: 'fedwire', input_source: 'B1QDRCQR' }),
  fednow: settingsFor('/unused', { messages: 'fednow' }),
};
const file = { createdAtNs: 1_794_000_000_000_000_000n, executionDate: '2026-11-17' };
const dear = {
  destination: { instructions: { wire: { ...wire, routing_details: swift } }, owner: institution },
};

describe.runIf(HAS_PROWIDE)('a second, independent parser', () => {
  it('reads the same amounts, parties and ids in files of payments, whatever the payments', async () => {
    const units = fc.sample(fc.bigInt({ min: 1n, max: 99_999_999_999_999n }), { numRuns: 200, seed: 7 });
    const transfers = units.map((amountUnits, index) =>
      creditTransferOf(
        { ...paymentFor(newId(), '1', index % 2 === 0 ? dear : {}), amountUnits, memo: `Größe <&> ${index}` },
        'USD',
      ),
    );
    const text = orderText({ ...file, messageId: plainId(newId()), transfers }, settings['pain.001']);
    const [read] = await readBoth([text]);
    expect(read!.message).toEqual(['pain.001.001.09']);
    expectSame(text, read!);
    // The amounts themselves, once more by hand.
    const amounts = read!['/cstmrCdtTrfInitn/pmtInf/cdtTrfTxInf/amt/instdAmt/value']!;
    expect(amounts.map((amount) => BigInt(amount.replace('.', '')))).toEqual(units);
    const ids = read!['/cstmrCdtTrfInitn/pmtInf/cdtTrfTxInf/pmtId/endToEndId'];
    expect(ids).toEqual(transfers.map(({ key }) => plainId(key)));
  });

  it('reads the same in messages between banks, and in those of the sandbox bank', async () => {
    const key = newId();
    const entry = {
      reference: 'R',
      direction: 'CRDT',
      amount: '5.00',
      bookedOn: day,
      sender: 'Ada',
    } as const;
    const texts = (['fedwire', 'fednow'] as const).flatMap((network) => {
      const messageId = network === 'fedwire' ? '20261117B1QDRCQR000001' : '20261117021000021a1';
      const head = { network, id: messageId, at, own: '021000021' } as const;
      const transfers = [payableOf(paymentFor(key, '1234.5'), settings[network])];
      const about = { messageId, name: 'pacs.008.001.08', uetr: uetrOf(key) };
      const returned = { messageId, endToEndId: plainId(key), uetr: uetrOf(key), amount: '1234.50', day };
      return [
        orderText({ ...file, messageId, transfers }, settings[network]),
        fedStatus(head, about, { endToEndId: plainId(key), code: 'RJCT', reason: 'AC04' }),
        fedReturn(head, { ...returned, account: OWN_ACCOUNT, creditor: 'Ada', reason: 'AC04' }),
      ];
    });
    const account = { id: 'N1', at, account: OWN_ACCOUNT, currency: 'USD', entries: [entry] };
    const zero = { amount: '0.00', direction: 'CRDT' } as const;
    texts.push(
      notification(account),
      statement({ ...account, day, opening: zero, closing: { ...zero, amount: '5.00' } }),
      statusReport({
        id: 'S1',
        at,
        order: { messageId: plainId(key), paymentInformationId: 'x-1' },
        statuses: [{ endToEndId: plainId(key), code: 'RJCT', reason: 'AC04', amount: '1.00' }],
      }),
    );
    const read = await readBoth(texts);
    expect(read.map(({ message }) => message![0])).toEqual([
      'pacs.008.001.08',
      'pacs.002.001.10',
      'pacs.004.001.10',
      'pacs.008.001.08',
      'pacs.002.001.10',
      'pacs.004.001.10',
      'camt.054.001.08',
      'camt.053.001.08',
      'pain.002.001.12',
    ]);
    for (const [index, text] of texts.entries()) expectSame(text, read[index]!);
  });
});
