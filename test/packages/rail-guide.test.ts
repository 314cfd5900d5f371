import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import type { Payment, Rail } from '../../src/rails/rail.ts';
import { describeRail } from '../rails/contract.ts';
import { blocksIn, guide } from './guides.ts';
import { ROOT } from './installed.ts';

/** The bank of the guide. It takes what the memo says: refused payments, and those that it never answers. */
const requests = new Map<string, number>();
const payments = new Map<string, 'paid' | 'refused'>();
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = request.url!.split('/').at(-1)!;
  if (request.method === 'PUT') {
    requests.set(key, (requests.get(key) ?? 0) + 1);
    const { memo } = (await json(request)) as { memo: string };
    payments.set(key, memo === 'refused' ? 'refused' : 'paid');
    if (memo === 'unanswered') return;
  }
  const status = payments.get(key);
  response.writeHead(status === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status }));
}
const bank = createServer((request, response) => void answer(request, response));
await new Promise<void>((done) => bank.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`;

const folder = mkdtempSync(join(tmpdir(), 'ferry-rail-'));
const [example, start] = blocksIn('docs/writing-a-rail.md', 'ts');
writeFileSync(join(folder, 'my-wire.ts'), example!.replaceAll("'./src/", `'${ROOT}/src/`));
const { createMyWire } = (await import(join(folder, 'my-wire.ts'))) as {
  createMyWire: (bank: string) => Rail;
};
const rail = createMyWire(url);
afterAll(() => {
  bank.closeAllConnections();
  bank.close();
  rmSync(folder, { recursive: true });
});

describeRail('wire', {
  rail: () => rail,
  payment: (kind, key): Payment => ({
    key,
    asset: 'USD',
    amountUnits: 100n,
    amount: '1',
    memo: kind,
    destination: { instructions: {}, owner: {} },
  }),
  record: async (key) => ({
    requests: requests.get(key) ?? 0,
    payments: payments.get(key) === 'paid' ? 1 : 0,
  }),
  pass: () => undefined,
});

it('the start script is the one of the operations guide', () => {
  const inGuide = blocksIn('docs/operations.md', 'ts').find((block) => block.includes('createRails'))!;
  expect(start!.replace("'https://bank.example'", '')).toBe(inGuide);
  expect(guide('docs/writing-a-rail.md')).toContain('test/rails/contract.ts');
});
