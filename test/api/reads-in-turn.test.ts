import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { createTurns } from '../../src/http/turns.ts';
import { newId } from '../../src/kernel/id.ts';
import { route } from '../../src/kernel/route.ts';
import { Type } from '../../src/kernel/type.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let busy: TestCustomer;
let other: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  busy = await service.createCustomer();
  other = await service.createCustomer();
  // Both are known to the service: their tokens are verified without a query.
  for (const customer of [busy, other]) await customer.call('GET', '/v2/profiles');
});
afterAll(() => service.stop());

describe('a customer with more reads than there are connections', () => {
  it('does not keep another customer from reading', async () => {
    const connection = await service.database.reserve();
    await connection.query('begin');
    await connection.query('lock table transfers in access exclusive mode');
    let answered = 0;
    const reads = Array.from({ length: 40 }, async () => {
      const { status } = await busy.call('GET', '/v2/transfer/transfers');
      answered += 1;
      return status;
    });
    // All of them have arrived, and those that have a place wait for the table.
    await until('reads wait for the table', async () => {
      const waiting = await connection.query<{ count: bigint }>(
        `select count(*) from pg_locks where relation = 'transfers'::regclass and not granted`,
      );
      return waiting[0]!.count > 0n;
    });
    for (let count = 0; count < 5; count += 1)
      expect((await other.call('GET', '/v2/profiles')).status).toBe(200);
    expect(answered).toBe(0);
    await connection.query('rollback');
    connection.release();
    expect(await Promise.all(reads)).toEqual(reads.map(() => 200));
  });

  it('may have many requests that wait for events, and still read', async () => {
    const feed = await busy.call('GET', '/v2/events?limit=1000');
    const cursor = encodeURIComponent(feed.body.next_page_cursor);
    const waiting = Array.from({ length: 30 }, () =>
      busy.call('GET', `/v2/events?wait_seconds=5&page_cursor=${cursor}`),
    );
    for (let count = 0; count < 5; count += 1)
      expect((await busy.call('GET', '/v2/profiles')).status).toBe(200);
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  });
});

describe('a client that disconnects while its read waits for its turn', () => {
  it('leaves its place in the queue', async () => {
    const turns = createTurns({ readsMax: 1, customerReadsMax: 1 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const executed: string[] = [];
    const caller = { customerId: newId(), clientId: newId(), integration: 'FIRST_PARTY' } as const;
    const slow = route({
      method: 'GET',
      path: '/v2/slow/{name}',
      operationId: 'slow',
      tag: 'Test',
      summary: 'Occupies its place until it is released',
      scope: 'test',
      params: Type.Object({ name: Type.String() }),
      response: Type.Object({}),
      problems: [],
      async handle({ params }) {
        executed.push(params.name);
        await released;
        return { body: {} };
      },
    });
    const app = await createApp({
      routes: [slow],
      logger: pino({ level: 'silent' }),
      publicUrl: () => 'http://localhost',
      authenticate: async () => ({ ...caller, scopes: new Set(['test']) }),
      turns,
      extensions: [],
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const first = fetch(`${url}/v2/slow/first`);
    await until('it has the place', () => executed.length === 1);
    const aborted = new AbortController();
    const second = fetch(`${url}/v2/slow/second`, { signal: aborted.signal });
    await until('the second one waits', () => turns.queue.waiting() === 1);
    aborted.abort();
    await expect(second).rejects.toThrow();
    await until('it has left', () => turns.queue.waiting() === 0);
    const third = fetch(`${url}/v2/slow/third`);
    await until('the third one waits', () => turns.queue.waiting() === 1);
    release();
    expect([(await first).status, (await third).status]).toEqual([200, 200]);
    expect(executed).toEqual(['first', 'third']);
    await app.close();
  });
});
