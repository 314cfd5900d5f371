import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { noticesOf } from '../../src/rails/notice-store.ts';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { type ConfigFiles, createConfigFiles } from '../support/config.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestService,
} from '../support/service.ts';

/** `POST /v2/rails/{rail}/notices`: signed by the adapter, recorded once. */
let service: TestService;
let files: ConfigFiles;
const [secret, previous] = [newSecret(), newSecret()];
beforeAll(async () => {
  files = createConfigFiles();
  const rail = {
    kind: 'http',
    url: 'http://127.0.0.1:1',
    secret: { env: 'S' },
    previous_secret: { env: 'P' },
  };
  service = await startTestService({
    ...(files.withFile({ rails: { wire: rail, ETHEREUM: rail } }) as Record<string, string>),
    S: secret,
    P: previous,
  });
});
afterAll(async () => {
  await service.stop();
  files.remove();
});

type Sent = {
  readonly by?: string;
  readonly atMs?: number;
  readonly headers?: Record<string, string>;
  readonly rail?: string;
};

async function send(
  content: unknown,
  { by = secret, atMs = Date.now(), headers = {}, rail = 'wire' }: Sent = {},
): Promise<Answer> {
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  const id = `msg_${newId()}`;
  const response = await fetch(`${service.url}/v2/rails/${rail}/notices`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': new Webhook(by).sign(id, new Date(atMs), body),
      ...headers,
    },
    body,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const deposit = (change: object = {}) => ({
  type: 'deposit',
  account: 'DE02 1203 0000 0000 2020 51',
  reference: newId(),
  memo_id: 'ABC',
  asset: 'USD',
  amount: '100.50',
  ...change,
});
const wire = (...notices: object[]) => ({ rail: 'wire', notices });
const onChain = (...notices: object[]) => ({ rail: 'ETHEREUM', notices });

const recorded = (rail: 'wire' | 'ETHEREUM' = 'wire') => noticesOf(service.database, rail).collect(1_000);

describe('notices', () => {
  it('are recorded, with amounts exact to the unit', async () => {
    const amount = '99999999999999999999.99';
    const key = newId();
    const answer = await send(
      wire(
        deposit({ amount, reference: 'big' }),
        { type: 'payment', key, status: 'completed', detail: 'Paid.' },
        { type: 'payment', key, status: 'failed', reason: 'On a list.', public_reason: 'Closed\naccount.' },
        { type: 'return', key, account: 'A', reference: 'R', asset: 'USD', amount: '0.01' },
      ),
    );
    expect(answer).toMatchObject({ status: 200, body: { recorded: 4 } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await recorded()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          deposit: expect.objectContaining({ amountUnits: 9_999_999_999_999_999_999_999n, memoId: 'ABC' }),
        }),
        expect.objectContaining({ rail: 'wire', key, state: { kind: 'completed', detail: 'Paid.' } }),
        expect.objectContaining({
          about: 'payment',
          key,
          state: { kind: 'failed', reason: 'Closed account.', privateReason: 'On a list.' },
        }),
        expect.objectContaining({
          about: 'return',
          key,
          arrived: {
            rail: 'wire',
            account: 'A',
            reference: 'R',
            memoId: `Return of payment ${key}`,
            asset: 'USD',
            amountUnits: 1n,
          },
        }),
      ]),
    );
  });

  it('of a chain name transactions', async () => {
    const tx = {
      tx_hash: `0x${'ab'.repeat(32)}`,
      address: `0x${'cd'.repeat(20)}`,
      asset: 'ETH',
      amount: '0.000000000000000001',
    };
    const notices = [
      { type: 'deposit', ...tx, output: 3 },
      { type: 'deposit', ...tx },
      { type: 'payment', key: newId(), status: 'completed', tx_hash: tx.tx_hash },
    ];
    expect(await send(onChain(...notices), { rail: 'ETHEREUM' })).toMatchObject({ body: { recorded: 3 } });
    expect(await recorded('ETHEREUM')).toHaveLength(3);
  });

  it('are recorded once, however often they are sent, at once and in other requests', async () => {
    const before = (await recorded()).length;
    const one = deposit();
    await Promise.all(Array.from({ length: 5 }, () => send(wire(one, one))));
    await send(wire(one), { by: previous });
    // The same money in other words: the amount is compared by value.
    await send(wire({ ...one, amount: '100.5' }));
    expect(await recorded()).toHaveLength(before + 1);
    // Another notice under the same reference is not lost: it is decided when it is processed.
    await send(wire({ ...one, amount: '100.51' }));
    expect(await recorded()).toHaveLength(before + 2);
  });
});

describe('a request that is not from the adapter', () => {
  const NOBODY = newSecret();
  it.each<[string, Sent, string]>([
    ['without a signature', { headers: { 'webhook-signature': '' } }, 'must have the headers webhook-id'],
    ['with another secret', { by: NOBODY }, 'webhook-signature does not match'],
    ['of ten minutes ago', { atMs: Date.now() - 600_000 }, 'behind the clock of this service'],
    ['in ten minutes', { atMs: Date.now() + 600_000 }, 'ahead of the clock of this service'],
    ['with another id', { headers: { 'webhook-id': 'msg_other' } }, 'webhook-signature does not match'],
    [
      'with a token instead',
      { headers: { 'webhook-signature': '', authorization: 'Bearer x' } },
      'must have the headers',
    ],
  ])('%s is refused, and nothing is recorded', async (_, sent, sentence) => {
    const before = (await recorded()).length;
    const answer = await send(wire(deposit()), sent);
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.body.detail).toContain(sentence);
    expect(answer.headers.get('www-authenticate')).toBe('Standard-Webhooks');
    expect(await recorded()).toHaveLength(before);
  });

  it('is refused before its body is parsed', async () => {
    expectProblem(await send('{"rail": ', { by: NOBODY }), 401, 'unauthenticated');
    expectInvalid(await send('{"rail": '), '');
  });

  it('cannot be the request of another rail with the same secret', async () => {
    expectInvalid(
      await send(wire(deposit()), { rail: 'ETHEREUM' }),
      ...['account', 'memo_id', 'reference', 'tx_hash', 'address'].map((one) => `/notices/0/${one}`),
      '/rail',
    );
  });

  it('to a rail of another kind is not found', async () => {
    expectProblem(await send(wire(deposit()), { rail: 'cubix' }), 404, 'not-found');
  });
});

describe('a wrong notice', () => {
  const payment = { type: 'payment', key: newId(), status: 'completed' };
  it.each<[string, unknown, string[]]>([
    ['of no type', { account: 'A' }, ['/notices/0/type']],
    ['of another type', deposit({ type: 'credit' }), ['/notices/0/type']],
    ['with an unknown field', deposit({ sender: 'x' }), ['/notices/0/sender']],
    ['with an amount as a number', deposit({ amount: 100.5 }), ['/notices/0/amount']],
    ['with an exponent', deposit({ amount: '1e3' }), ['/notices/0/amount']],
    ['with a negative amount', deposit({ amount: '-1' }), ['/notices/0/amount']],
    ['with an amount of zero', deposit({ amount: '0.00' }), ['/notices/0/amount']],
    ['with an unknown asset', deposit({ asset: 'DOGE' }), ['/notices/0/asset']],
    ['without a reference', deposit({ reference: undefined }), ['/notices/0/reference']],
    ['with a field of chains', deposit({ tx_hash: '0x1' }), ['/notices/0/tx_hash']],
    ['without a key', { ...payment, key: undefined }, ['/notices/0/key']],
    ['that is pending', { ...payment, status: 'pending' }, ['/notices/0/status']],
    ['that failed without a reason', { ...payment, status: 'failed' }, ['/notices/0/reason']],
    ['that completed with a reason', { ...payment, reason: 'x' }, ['/notices/0/reason']],
    ['of a return with a memo', deposit({ type: 'return', key: newId() }), ['/notices/0/memo_id']],
  ])('%s is refused with the field, and nothing of the request is recorded', async (_, notice, pointers) => {
    const before = (await recorded()).length;
    expectInvalid(await send(wire(notice as object, deposit())), ...pointers);
    expect(await recorded()).toHaveLength(before);
  });

  it('with too many decimals is refused with the precision of the asset', async () => {
    const meta = expectProblem(await send(wire(deposit({ amount: '1.001' }))), 400, 'exceeds-precision');
    expect(meta).toMatchObject({ asset: 'USD', max_decimals: 2 });
  });

  it.each([
    ['none', [], '/notices'],
    ['more than a hundred', Array.from({ length: 101 }, () => deposit()), '/notices'],
  ])('%s in a request is refused', async (_, notices, pointer) => {
    expectInvalid(await send(wire(...notices)), pointer);
  });

  it('that is no JSON, or too large, is refused', async () => {
    const type = await send('x', { headers: { 'content-type': 'text/plain' } });
    expectProblem(type, 415, 'unsupported-media-type');
    expectProblem(await send(wire(deposit({ memo_id: 'x'.repeat(300_000) }))), 413, 'payload-too-large');
  });

  it('with another method is refused', async () => {
    const response = await fetch(`${service.url}/v2/rails/wire/notices`);
    expect(response.status).toBe(405);
  });
});

it('the metrics show what waits to be processed', async () => {
  const waiting = (await recorded()).length;
  expect(waiting).toBeGreaterThan(0);
  const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
  await expect.poll(metrics).toContain(`ferry_rail_notices_waiting{rail="wire"} ${waiting}\n`);
  expect(await metrics()).toMatch(/ferry_rail_notices_oldest_seconds\{rail="wire"\} (?!0\n)[0-9]/);
});

it('the API document of customers does not contain the endpoint', () => {
  expect(Object.keys(service.description.document.paths).filter((path) => path.includes('/rails/'))).toEqual(
    [],
  );
});
