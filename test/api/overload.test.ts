import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { type Answer, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// Few enough that a test can exceed them.
Object.assign(LIMITS, {
  admissionCommandsCrowd: 20,
  admissionCommandsMin: 20,
  admissionReadsCrowd: 5,
  admissionReadsMin: 5,
});

/** In flight and in the queue: more than the write path takes into batches that wait for the database. */
const TRANSFERS = 900;
/** More than there are connections for reads, and may wait for one. */
const READS = 60;

let service: TestService;
let alice: TestCustomer;
let from: string;
let to: string;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  from = await service.createProfile(alice, { USD: '1000' });
  to = await service.createProfile(alice);
});
afterAll(() => service.stop());

const isShed = ({ status, body }: Answer): boolean =>
  status === 503 && body.meta.retry_after_ms !== undefined;

function transfer(refId: string): Promise<Answer> {
  const asset = { asset: 'USD', amount: '0.01' };
  const body = { from_profile_id: from, to_profile_id: to, ...asset, ref_id: refId };
  return alice.call('POST', '/v2/transfer/platform', body);
}

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1),
  );
}

/** While the work runs, no other session can use the table. */
async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const connection = await service.database.reserve();
  await connection.query('begin');
  await connection.query(`lock table ${table} in access exclusive mode`);
  try {
    return await work();
  } finally {
    await connection.query('rollback');
    connection.release();
  }
}

/** Sends requests until one of them is refused at the door; liveness is answered all the time. */
async function overload(count: number, send: (index: number) => Promise<Answer>) {
  const answers = new Map<number, Answer>();
  const sending = Array.from({ length: count }, async (_, index) => answers.set(index, await send(index)));
  await until('a request is refused', async () => {
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    if ([...answers.values()].some(isShed)) return true;
    // The wait has to be long for an interval: the refusals begin with a later request.
    const index = count + sending.length;
    sending.push(send(index).then((answer) => answers.set(index, answer)));
    return false;
  });
  return { answers, done: () => Promise.all(sending) };
}

describe('an overloaded write path', () => {
  it('refuses transfers at the door, writes nothing of them, and executes them when they are sent again', async () => {
    const { answers, done } = await whileLocked('idempotency_keys', () =>
      overload(TRANSFERS, (index) => transfer(`overload-${index}`)),
    );
    await done();
    const shed = [...answers].filter(([, answer]) => isShed(answer));
    expect(shed.length).toBeGreaterThan(0);
    for (const [, { headers, body }] of shed) {
      expect(body).toEqual({
        type: `${service.url}/problems/unavailable`,
        title: 'Service unavailable',
        status: 503,
        detail: 'The service is overloaded. Nothing was executed; retry with the same ref_id.',
        meta: { retry_after_ms: expect.any(Number) },
      });
      expect(LIMITS.overloadRetryMs).toContain(body.meta.retry_after_ms);
      expect(headers.get('retry-after')).toBe('1');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    const rows = await service.database.query<{ ref_id: string }>(
      `select ref_id from transfers where ref_id like 'overload-%' and direction = 'DEBIT'`,
    );
    const written = new Set(rows.map((row) => row.ref_id));
    expect(shed.filter(([index]) => written.has(`overload-${index}`))).toEqual([]);
    const accepted = [...answers].filter(([, { status }]) => status === 200);
    expect(accepted.filter(([index]) => !written.has(`overload-${index}`))).toEqual([]);

    await until('the service is back to normal', async () => (await transfer('normal')).status === 200);
    const again = await transfer(`overload-${shed[0]![0]}`);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    await until('the metrics show it', async () => (await metric('ferry_http_shed_total{kind="write"}')) > 0);
    expect(await metric('ferry_http_shed_total{kind="read"}')).toBe(0);
  });
});

describe('reads that wait too long for a connection', () => {
  it('are refused at the door', async () => {
    const list = () => alice.call('GET', '/v2/transfer/transfers?limit=1');
    const { answers, done } = await whileLocked('fiat_accounts', () =>
      overload(READS, () => alice.call('GET', '/v2/transfer/fiat-accounts')),
    );
    await done();
    expect([...answers.values()].filter(isShed).length).toBeGreaterThan(0);
    await until('reads are accepted again', async () => (await list()).status === 200);
    await until('the metrics show it', async () => (await metric('ferry_http_shed_total{kind="read"}')) > 0);
  });
});

it('the wait is a metric', async () => {
  expect(await metric('ferry_http_wait_seconds{kind="read"}')).toBeGreaterThanOrEqual(0);
  expect(await metric('ferry_http_wait_seconds{kind="write"}')).toBeGreaterThanOrEqual(0);
});
