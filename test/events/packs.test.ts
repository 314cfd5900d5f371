import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/database.ts';
import { batchOf, FEED_START, type FeedEvent, type FeedPlace } from '../../src/events/event.ts';
import { type FeedPage, findEvent, readFeed, sequence } from '../../src/events/feed-store.ts';
import type { FeedFilter } from '../../src/events/filter.ts';
import { findEvents } from '../../src/events/group-store.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { allEvents, emit } from '../support/events.ts';
import { createTestWritePath } from '../support/ledger.ts';
import { IS_LONG, rounds } from '../support/rounds.ts';

let test: TestDatabase;
let path: ReturnType<typeof createTestWritePath>;
beforeAll(async () => {
  test = await createTestDatabase();
  path = createTestWritePath(test.database);
});
afterAll(() => test.drop());

const TYPES = ['transfer.a.completed', 'transfer.b.completed', 'settlement.transaction.pending'];
const bounds = { limit: 7, scanMax: 100_000 };

/** All pages, one after the other. */
async function pagesOf(
  database: Queryable,
  customerId: string,
  filter: FeedFilter,
  { limit, scanMax }: typeof bounds,
): Promise<FeedPage[]> {
  const pages: FeedPage[] = [];
  let after: FeedPlace = FEED_START;
  for (;;) {
    const page = await readFeed(database, customerId, filter, after, { limit, scanMax });
    expect(page.events.length).toBeLessThanOrEqual(limit);
    pages.push(page);
    if (!page.hasMore) return pages;
    after = page.next;
  }
}
const eventsIn = (pages: readonly FeedPage[]): FeedEvent[] => pages.flatMap((page) => page.events);

describe('a feed of groups of all sizes', () => {
  const customerId = newId();
  const resources = Array.from({ length: 10 }, newId);
  let all: readonly FeedEvent[];
  beforeAll(async () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let batch = 0; batch < 30; batch += 1) {
      // Lines of other customers are in between, so the line numbers have gaps.
      const size = batch % 10 === 0 ? 150 : 1 + random(12);
      const types = batch % 3 === 0 ? TYPES : TYPES.slice(0, 1);
      const items = Array.from({ length: size }, () => ({
        resourceId: resources[random(10)]!,
        type: types[random(types.length)]!,
        data: { batch, text: 'ä\n'.repeat(random(60)) },
      }));
      await Promise.all([
        path.submit(emit(newId(), [{}, {}])),
        ...items.map((item) => path.submit(emit(customerId, [item]))),
      ]);
    }
    while ((await sequence(test.database, 25)).count > 0);
    all = eventsIn(await pagesOf(test.database, customerId, {}, { limit: 1_000, scanMax: 1_000_000 }));
  });

  it('has every event once, in the order of positions and lines, with a unique id', async () => {
    const written = (await allEvents(test.database)).filter((event) => event.customer_id === customerId);
    expect(all).toHaveLength(written.length);
    expect(new Set(all.map((event) => event.id)).size).toBe(all.length);
    const sorted = [...all].sort((a, b) => Number(a.position - b.position) || a.line - b.line);
    expect(all).toEqual(sorted);
    const sizes = await test.database.query<{ small: boolean; large: boolean }>(
      `select bool_or(get_byte(events, 0) <> 40) as small, bool_or(get_byte(events, 0) = 40) as large
       from event_groups where customer_id = $1`,
      [customerId],
    );
    expect(sizes).toEqual([{ small: true, large: true }]);
  });

  const middle = (): bigint => all[Math.floor(all.length / 2)]!.atNs;
  const filters: [string, () => FeedFilter, (event: FeedEvent) => boolean][] = [
    ['without a filter', () => ({}), () => true],
    ['by a common type', () => ({ types: ['transfer.*'] }), (one) => one.type.startsWith('transfer.')],
    ['by a rare type', () => ({ types: ['settlement.*'] }), (one) => one.type.startsWith('settlement.')],
    ['by no type', () => ({ types: ['fiat_account.*'] }), () => false],
    ['without a type', () => ({ types: ['*'], notType: TYPES[0]! }), (one) => one.type !== TYPES[0]],
    [
      'by resources',
      () => ({ resourceIds: resources.slice(2, 4) }),
      (one) => resources.indexOf(one.resourceId) >> 1 === 1,
    ],
    ['from a time on', () => ({ ranges: [{ operator: '>=', ns: middle() }] }), (one) => one.atNs >= middle()],
    ['up to a time', () => ({ ranges: [{ operator: '<', ns: middle() }] }), (one) => one.atNs < middle()],
    ['at a time', () => ({ ranges: [{ operator: '=', ns: middle() }] }), (one) => one.atNs === middle()],
    [
      'by ids, one of which does not exist',
      () => ({ ids: [newId(), ...all.slice(100, 130).map((one) => one.id)] }),
      (one) => all.indexOf(one) >= 100 && all.indexOf(one) < 130,
    ],
  ];
  it.each(filters)('is read completely %s, in pages of any size', async (_, filter, fits) => {
    const wanted = all.filter(fits);
    for (const limit of IS_LONG ? [1, 7, 100] : [20]) {
      const pages = await pagesOf(test.database, customerId, filter(), { limit, scanMax: 100_000 });
      expect(eventsIn(pages)).toEqual(wanted);
      const scanned = await pagesOf(test.database, customerId, filter(), { limit, scanMax: 40 });
      expect(eventsIn(scanned)).toEqual(wanted);
    }
  });

  it('continues after each of its places', async () => {
    for (let index = 0; index < all.length; index += 13) {
      const page = await readFeed(test.database, customerId, {}, all[index]!, bounds);
      expect(page.events).toEqual(all.slice(index + 1, index + 1 + bounds.limit));
    }
  });

  it('returns each event by its id to its owner only', async () => {
    const some = all.filter((_, index) => index % 20 === 0);
    for (const event of some) expect(await findEvent(test.database, customerId, event.id)).toEqual(event);
    expect(await findEvent(test.database, newId(), some[0]!.id)).toBeUndefined();
    expect(await findEvent(test.database, customerId, batchOf(some[0]!.id))).toBeUndefined();
    const found = await findEvents(test.database, customerId, [...some.map((one) => one.id), newId()]);
    expect([...found.values()].map((one) => one.id).sort()).toEqual(some.map((one) => one.id).sort());
  });
});

it('one read is bounded in bytes, however large the groups are', async () => {
  const customerId = newId();
  const resourceId = newId();
  const size = 200_000;
  for (let count = 0; count < 12; count += 1) {
    // Random, so it cannot be compressed.
    const item = { resourceId, data: { text: randomBytes(size / 2).toString('hex'), count } };
    await path.submit(emit(customerId, [item]));
  }
  while ((await sequence(test.database, 100)).count > 0);
  const loads: number[] = [];
  const counting: Queryable = {
    ...test.database,
    async query<Row extends object>(text: string, parameters?: Parameters<Queryable['query']>[1]) {
      const rows = await test.database.query<Row>(text, parameters);
      const bytes = rows.map((row) => (row as { events?: Buffer | null }).events?.length ?? 0);
      loads.push(bytes.reduce((sum, one) => sum + one, 0));
      return rows;
    },
  };
  const filters: FeedFilter[] = [{}, { types: ['transfer.*'] }, { resourceIds: [resourceId] }];
  for (const filter of filters) {
    const page = await readFeed(counting, customerId, filter, FEED_START, { limit: 100, scanMax: 1_000 });
    expect(page.events.map((one) => JSON.parse(one.resource).count)).toEqual([...Array(12).keys()]);
    await findEvents(
      counting,
      customerId,
      page.events.map((one) => one.id),
    );
  }
  expect(Math.max(...loads)).toBeGreaterThan(0);
  expect(Math.max(...loads)).toBeLessThan(LIMITS.eventReadBytesMax + size);
});

describe('a batch with more events than ids can number', () => {
  const many = (count: number): object[] => Array.from({ length: count }, () => ({}));
  const countOf = async (customerId: string): Promise<bigint> => {
    const [row] = await test.database.query<{ count: bigint }>(
      'select coalesce(sum(lines), 0)::bigint as count from event_groups where customer_id = $1',
      [customerId],
    );
    return row!.count;
  };

  it('is written in parts', async () => {
    const customerId = newId();
    const half = rounds(33_000, 40_000);
    await Promise.all([path.submit(emit(customerId, many(half))), path.submit(emit(customerId, many(half)))]);
    expect(await countOf(customerId)).toBe(BigInt(2 * half));
  });

  it('is refused with the reason when all events are of one command', async () => {
    const customerId = newId();
    await expect(path.submit(emit(customerId, many(65_536)))).rejects.toThrow('a batch has 65536 events');
    expect(await countOf(customerId)).toBe(0n);
  });

  it.runIf(IS_LONG)('may have as many as ids can number', async () => {
    const customerId = newId();
    await path.submit(emit(customerId, many(65_535)));
    expect(await countOf(customerId)).toBe(65_535n);
  });
});

it('a resource with several events in one batch has one row in the index', async () => {
  const [customerId, other, resourceId] = [newId(), newId(), newId()];
  await Promise.all([
    path.submit(emit(customerId, [{ resourceId }, { resourceId }])),
    path.submit(emit(other, [{ resourceId }])),
  ]);
  const rows = await test.database.query('select batch_id from event_resources where resource_id = $1', [
    resourceId,
  ]);
  expect(rows).toHaveLength(1);
});
