import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableClient } from '../../src/auth/administration.ts';
import { LINE_MAX } from '../../src/events/event.ts';
import { markFeed, placeBefore, readFeed, sequence } from '../../src/events/feed-store.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase } from '../support/database.ts';
import { type Event, emit } from '../support/events.ts';
import { createTestWritePath } from '../support/ledger.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let customer: TestCustomer;
let profiles: string[];
beforeAll(async () => {
  service = await startTestService();
  customer = await service.createCustomer();
  profiles = [await service.createProfile(customer, { USD: '1000' }), await service.createProfile(customer)];
});
afterAll(() => service.stop());

async function transfer(from = customer): Promise<any> {
  const answer = await from.call('POST', '/v2/transfer/internal', {
    from_profile_id: profiles[0],
    to_profile_id: profiles[1],
    asset: 'USD',
    amount: '0.01',
    ref_id: crypto.randomUUID(),
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** The cursor after all events so far. */
async function end(of = customer): Promise<string> {
  let cursor = '';
  for (;;) {
    const { body } = await of.call('GET', `/v2/events?limit=1000${cursor}`);
    cursor = `&page_cursor=${body.next_page_cursor}`;
    if (body.items.length === 0) return cursor;
  }
}

async function visible(resourceId: string): Promise<Event[]> {
  let items: Event[] = [];
  await until('it is visible', async () => {
    items = (await customer.call('GET', `/v2/events?resource_ids=${resourceId}`)).body.items;
    return items.length > 0;
  });
  return items;
}

describe('the feed', () => {
  it('has each change with the whole resource, oldest first, and a cursor on every page', async () => {
    const start = await end();
    const made = [await transfer(), await transfer(), await transfer()];
    await visible(made[2].id);
    const { body: page } = await customer.call('GET', `/v2/events?limit=4${start}`);
    expect(page.items).toHaveLength(4);
    expect(page.has_more).toBe(true);
    const rest = await customer.call('GET', `/v2/events?limit=4&page_cursor=${page.next_page_cursor}`);
    expect(rest.body).toMatchObject({ has_more: false });
    const all = [...page.items, ...rest.body.items];
    expect(all).toHaveLength(6);
    const debits = all.filter((event) => event.type === 'transfer.internal_transfer_debit.completed');
    expect(debits.map((event) => event.resource_id)).toEqual(made.map((one) => one.id));
    expect(debits.map((event) => event.data)).toEqual(made);
    expect(Object.keys(debits[0])).toEqual(['id', 'type', 'created_at', 'resource_id', 'data']);
    const after = await customer.call('GET', `/v2/events?page_cursor=${rest.body.next_page_cursor}`);
    expect(after.body).toEqual({
      items: [],
      next_page_cursor: rest.body.next_page_cursor,
      has_more: false,
    });
    // An old cursor still returns the same page.
    expect((await customer.call('GET', `/v2/events?limit=4${start}`)).body).toEqual(page);
    expect((await customer.call('GET', `/v2/events/${all[0].id}`)).body).toEqual(all[0]);
  });

  it('is filtered by type with wildcards, by resource and by time', async () => {
    const start = await end();
    const first = await transfer();
    await sleep(5);
    const second = await transfer();
    await visible(second.id);
    const found = async (query: string): Promise<string[]> =>
      (await customer.call('GET', `/v2/events?${query}${start}`)).body.items.map(
        (event: Event) => event.resource_id,
      );
    expect(await found('types=transfer.internal_transfer_debit.completed')).toEqual([first.id, second.id]);
    expect(await found('types=transfer.*.completed')).toHaveLength(4);
    expect(await found('types=transfer.*.pending')).toEqual([]);
    expect(await found('types=*&types=fiat_account.*')).toHaveLength(4);
    expect(await found(`resource_ids=${first.id}`)).toEqual([first.id]);
    expect(await found(`resource_ids=${first.id}&types=settlement.*`)).toEqual([]);
    const at = encodeURIComponent(second.created_at);
    const debit = 'types=transfer.internal_transfer_debit.*';
    expect(await found(`${debit}&created_at.gte=${at}`)).toEqual([second.id]);
    expect(await found(`${debit}&created_at.lt=${at}`)).toEqual([first.id]);
    expect(await found(`${debit}&created_at.eq=${at}`)).toEqual([second.id]);
  });

  it('refuses invalid parameters', async () => {
    const wrong = async (query: string, ...pointers: string[]) =>
      expectInvalid(await customer.call('GET', `/v2/events?${query}`), ...pointers);
    await wrong('types=transfers.*', '/query/types/0');
    await wrong('types=Transfer', '/query/types/0');
    await wrong('types=transfer.*&types=transfer.foo.bar&types=transfer', '/query/types/1', '/query/types/2');
    // An underscore is not a wildcard.
    await wrong('types=transfer.internal_transfer_debi_.completed', '/query/types/0');
    await wrong('page_cursor=nonsense', '/query/page_cursor');
    await wrong('page_cursor=ZmVlZCAxIDk5OTk5OTk5OTk', '/query/page_cursor');
    await wrong('wait_seconds=31', '/query/wait_seconds');
    await wrong('order=DESC', '/query/order');
    await wrong('created_at.gte=yesterday', '/query/created_at.gte');
    expectProblem(await customer.call('GET', `/v2/events/${newId()}`), 404, 'not-found');
    const weak = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await weak.call('GET', '/v2/events'), 403, 'insufficient-scope');
    expectProblem(await weak.call('GET', '/v2/events/stream'), 403, 'insufficient-scope');
  });

  it('shows no customer the events of another', async () => {
    const [event] = await visible((await transfer()).id);
    const other = await service.createCustomer();
    expect((await other.call('GET', '/v2/events')).body.items).toEqual([]);
    expectProblem(await other.call('GET', `/v2/events/${event!.id}`), 404, 'not-found');
    expect((await other.call('GET', `/v2/events?resource_ids=${event!.resource_id}`)).body.items).toEqual([]);
  });
});

describe('a long poll', () => {
  it('answers as soon as there is an event', async () => {
    const start = await end();
    const started = performance.now();
    const waiting = customer.call('GET', `/v2/events?wait_seconds=30${start}`);
    await sleep(100);
    await transfer();
    const { body } = await waiting;
    expect(body.items.length).toBeGreaterThan(0);
    // Before the wait was over.
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('ignores events that do not match its filter, and answers with an empty page when the time is over', async () => {
    const start = await end();
    await visible((await transfer()).id);
    const started = performance.now();
    const waiting = customer.call('GET', `/v2/events?wait_seconds=1&types=fiat_account.*${start}`);
    await transfer();
    const { body } = await waiting;
    expect(body).toMatchObject({ items: [], has_more: false });
    expect(performance.now() - started).toBeGreaterThan(950);
    // The cursor is after the events that did not match, so they are not read again.
    expect(body.next_page_cursor).not.toBe(start.slice('&page_cursor='.length));
  });
});

type Message = { id: string | undefined; data: Event | undefined; text: string };

/** Reads server-sent events, as far as these tests need it. */
async function openStream(token: Record<string, string>, query = '') {
  const abort = new AbortController();
  const response = await fetch(`${service.url}/v2/events/stream${query}`, {
    headers: token,
    signal: abort.signal,
  });
  const messages: Message[] = [];
  let isEnded = false;
  const reading = (async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const field = (name: string) =>
          part
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const data = field('data');
        messages.push({
          id: field('id'),
          data: data === undefined ? undefined : JSON.parse(data),
          text: part,
        });
      }
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      isEnded = true;
    });
  return {
    response,
    messages,
    events: () => messages.flatMap(({ data }) => (data === undefined ? [] : [data])),
    isEnded: () => isEnded,
    async close() {
      abort.abort();
      await reading;
    },
  };
}

/** The token that a test customer calls with. */
async function authorization(of: TestCustomer): Promise<Record<string, string>> {
  let seen = '';
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    seen = (init!.headers as Record<string, string>).authorization!;
    return original(input, init);
  };
  await of.call('GET', '/v2/events?limit=1').finally(() => {
    globalThis.fetch = original;
  });
  return { authorization: seen };
}

describe('the stream', () => {
  it('sends events as they happen, and continues after Last-Event-ID with nothing missing or duplicated', async () => {
    const token = await authorization(customer);
    await end();
    const stream = await openStream(token);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    await until('it has begun', () => stream.messages.length > 0);
    expect(stream.messages[0]!.text).toMatch(/^retry: \d+\nid: /);
    const first = await transfer();
    await until('both sides arrive', () => stream.events().length === 2);
    expect(stream.events().map((event) => event.data.id)).toContain(first.id);
    const { id: lastId } = stream.messages.find((message) => message.data !== undefined)!;
    const [firstEvent, secondEvent] = stream.events();
    await stream.close();
    const missed = await transfer();
    const resumed = await openStream({ ...token, 'last-event-id': lastId! });
    await until('the rest arrives', () => resumed.events().length === 3);
    expect(resumed.events()[0]).toEqual(secondEvent);
    expect(
      resumed
        .events()
        .slice(1)
        .map((event) => event.data.id),
    ).toContain(missed.id);
    await resumed.close();
    const byEvent = await openStream({ ...token, 'last-event-id': firstEvent!.id });
    await until('an event id works as well', () => byEvent.events().length === 3);
    await byEvent.close();
    const byCursor = await openStream(
      token,
      `?page_cursor=${lastId}&types=transfer.internal_transfer_debit.*`,
    );
    await until('a cursor and a filter work as well', () => byCursor.events().length > 0);
    expect(byCursor.events().every((event) => event.type.includes('debit'))).toBe(true);
    await byCursor.close();
    expectInvalid(
      await customer.call('GET', '/v2/events/stream', undefined, { 'last-event-id': 'x' }),
      '/header/Last-Event-ID',
    );
  });

  it('is limited in number, and a closed one makes room', async () => {
    const many = await service.createCustomer();
    const token = await authorization(many);
    const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(token)));
    await until('all have begun', () => streams.every((stream) => stream.messages.length > 0));
    expectProblem(await many.call('GET', '/v2/events/stream'), 429, 'rate-limited');
    await streams[0]!.close();
    await until('there is room', async () => {
      const another = await openStream(token);
      streams.push(another);
      return another.response.status === 200;
    });
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('ends when its client is disabled', async () => {
    const leaving = await service.createCustomer();
    const stream = await openStream(await authorization(leaving));
    await until('it has begun', () => stream.messages.length > 0);
    const [client] = await service.database.query<{ id: string }>(
      'select id from clients where customer_id = $1',
      [leaving.id],
    );
    await disableClient(service.database, client!.id);
    await until('it has ended', () => stream.isEnded());
  });

  it('ends when the service stops, and so does a long poll', async () => {
    const second = await startTestService();
    const someone = await second.createCustomer();
    const token = await authorization(someone);
    const response = await fetch(`${second.url}/v2/events/stream`, { headers: token });
    const reading = response.text();
    const arrived = once(second.app.server, 'request');
    const waiting = someone.call('GET', '/v2/events?wait_seconds=30');
    await arrived;
    await sleep(100);
    await second.stop();
    // A stop cuts off a request that does not end by itself; this one is answered, long before its wait is over.
    expect(LIMITS.requestsFinishMs).toBeLessThan(30_000);
    expect((await waiting).body.items).toEqual([]);
    expect(await reading).toMatch(/^retry: /);
  });
});

describe('reading', () => {
  it('scans a bounded number of events, however rare the matching ones are, and starts near a given time', async () => {
    const test = await createTestDatabase();
    const { database } = test;
    const path = createTestWritePath(database);
    const customerId = newId();
    const start = { position: 0n, line: LINE_MAX };
    const rare = 'fiat_account.approved';
    for (let batch = 0; batch < 30; batch += 1) {
      const items = Array.from({ length: 10 }, () => ({ data: { batch } }));
      await path.submit(emit(customerId, items));
      if (batch === 24) await path.submit(emit(customerId, [{ type: rare }]));
      await sequence(database, 100);
      if (batch === 14) await markFeed(database, 1n);
    }
    const pages: number[] = [];
    let after = start;
    const found: string[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = await readFeed(database, customerId, { types: ['fiat_account.*'] }, after, {
        limit: 5,
        scanMax: 50,
      });
      pages.push(page.events.length);
      found.push(...page.events.map((event) => event.type));
      ({ next: after, hasMore } = page);
    }
    expect(found).toEqual([rare]);
    expect(pages).toEqual([0, 0, 0, 0, 0, 1, 0]);
    const all = await readFeed(database, customerId, {}, start, { limit: 1_000, scanMax: 1_000 });
    expect(all.events).toHaveLength(301);
    const since = all.events[200]!.atNs;
    const place = await placeBefore(database, since);
    expect(place.position).toBe(15n);
    const ranges = [{ operator: '>=', ns: since }];
    const later = await readFeed(database, customerId, { ranges }, start, { limit: 1_000, scanMax: 1_000 });
    expect(later.events).toEqual(all.events.filter((event) => event.atNs >= since));
    expect((await placeBefore(database, all.events[0]!.atNs)).position).toBe(0n);
    await test.drop();
  });
});
