import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventId, type FeedPlace, LINE_MAX } from '../../src/events/event.ts';
import { type FeedPage, readFeed, sequence } from '../../src/events/feed-store.ts';
import { createNews } from '../../src/events/news.ts';
import { event } from '../../src/events/outbox.ts';
import { packLine, packText } from '../../src/events/pack.ts';
import { createSequencer } from '../../src/events/sequencer.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import type { EventType } from '../../src/kernel/event-types.ts';
import { newBatchId, newId } from '../../src/kernel/id.ts';
import { createWritePath } from '../../src/ledger/write-path.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { emit } from '../support/events.ts';
import { assets } from '../support/ledger.ts';
import { explaining, rowsRead } from '../support/plans.ts';
import { until } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const START: FeedPlace = { position: 0n, line: LINE_MAX };
const log = { warn: (details: unknown) => console.error(details) } as never;

/** A node as main.ts builds it, reduced to the parts that append and order events. */
async function startNode(isWoken = true) {
  const database = connectUnlocked(test.address, 6);
  const news = createNews();
  const sequencer = createSequencer({ database, log, grown: (ids) => news.tell(ids) });
  const writePath = createWritePath({
    database,
    assets,
    observer: {
      batch: () => undefined,
      queue: () => undefined,
      trouble: () => undefined,
      committed: () => (isWoken ? sequencer.wake() : undefined),
    },
  });
  await sequencer.start();
  return {
    database,
    news,
    writePath,
    async stop() {
      await writePath.stop();
      await sequencer.stop();
      await database.close();
    },
  };
}
type Node = Awaited<ReturnType<typeof startNode>>;

/** Reads the feed until it has that many events, and then once more: there must be no others. */
async function followFeed(node: Node, customerId: string, count: number) {
  const seen: { writer: number; count: number; place: FeedPlace }[] = [];
  let after = START;
  for (let last = false; ; ) {
    let page: FeedPage;
    do {
      page = await readFeed(node.database, customerId, {}, after, { limit: 100, scanMax: 1_000 });
      seen.push(...page.events.map((one) => ({ ...JSON.parse(one.resource), place: one })));
      after = page.next;
    } while (page.hasMore);
    if (last) return seen;
    last = seen.length >= count;
    await node.news.wait(customerId, 100, new AbortController().signal);
  }
}

describe.each([
  ['one node', 1],
  ['two nodes', 2],
])('64 writers on %s', (_, count) => {
  it('a reader of the feed gets every event exactly once and in order', async () => {
    const nodes = await Promise.all(Array.from({ length: count }, () => startNode()));
    const customerId = newId();
    const others = [newId(), newId()];
    const perWriter = 60;
    const readers = nodes.map((node) => followFeed(node, customerId, 64 * perWriter * 2));
    await Promise.all(
      Array.from({ length: 64 }, async (_writer, writer) => {
        const { writePath } = nodes[writer % count]!;
        for (let number = 0; number < perWriter; number += 1) {
          const items = [
            { data: { writer, count: number * 2 } },
            { data: { writer, count: number * 2 + 1 } },
          ];
          await Promise.all([
            writePath.submit(emit(customerId, items)),
            writePath.submit(emit(others[writer % 2]!, [{}])),
          ]);
        }
      }),
    );
    for (const seen of await Promise.all(readers)) {
      expect(seen).toHaveLength(64 * perWriter * 2);
      expect(new Set(seen.map((one) => `${one.writer}/${one.count}`)).size).toBe(seen.length);
      // A writer waits for each answer before it writes again, so there is only one correct order of its events.
      const next = new Map<number, number>();
      for (const { writer, count: number } of seen) {
        expect(number).toBe(next.get(writer) ?? 0);
        next.set(writer, number + 1);
      }
    }
    await Promise.all(nodes.map((node) => node.stop()));
  });
});

it('an event whose transaction commits late comes after the events that were already read', async () => {
  const node = await startNode(false);
  const customerId = newId();
  const late = await node.database.reserve();
  const batchId = newBatchId();
  await late.query('begin');
  await late.query(
    `insert into event_groups (batch_id, customer_id, at_ns, lines, last_line, types, events, records, actors)
     values ($1, $2, 1, 1, 1, '{transfer.test.completed}', $3, '', '{}')`,
    [batchId, customerId, packText(packLine(1, 'transfer.test.completed', newId(), 1n, '{}'))],
  );
  await node.writePath.submit(emit(customerId, [{}, {}]));
  const read = (after: FeedPlace) =>
    readFeed(node.database, customerId, {}, after, { limit: 10, scanMax: 100 });
  await until('the others are visible', async () => (await read(START)).events.length > 0);
  const page = await read(START);
  expect(page.events).toHaveLength(2);
  await late.query('commit');
  late.release();
  await until('the late one is visible', async () => (await read(page.next)).events.length > 0);
  expect((await read(page.next)).events.map((one) => one.id)).toEqual([eventId(batchId, 1)]);
  await node.stop();
});

it('events of a resource are in order, also when another event of their batch is ahead of the clock', async () => {
  const [customerId, resourceId] = [newId(), newId()];
  const writePath = createWritePath({
    database: test.database,
    assets,
    observer: { batch: () => undefined, queue: () => undefined, trouble: () => undefined },
  });
  const hour = 3_600_000_000_000n;
  const tell = (...told: readonly (readonly [type: string, resourceId: string, aheadNs: bigint])[]) =>
    writePath.submit({
      actor: workerActor('test'),
      balances: [],
      decide: (view) => ({
        accepted: true,
        causeId: newId(),
        postings: [],
        writes: told.map(([type, resource, aheadNs]) =>
          event(type as EventType, customerId, resource, view.now + aheadNs, {}),
        ),
        answer: undefined,
      }),
    });
  await tell(['transfer.test.pending', resourceId, 0n], ['transfer.other.completed', newId(), hour]);
  await tell(['transfer.test.completed', resourceId, 0n]);
  await writePath.stop();
  await sequence(test.database, 100);
  const { events } = await readFeed(test.database, customerId, {}, START, { limit: 10, scanMax: 100 });
  expect(events.map(({ type }) => type)).toEqual([
    'transfer.test.pending',
    'transfer.other.completed',
    'transfer.test.completed',
  ]);
});

it('one new group is read alone, however many waited when the statistics of the table were made', async () => {
  const insert = (count: number) =>
    test.database.query(
      `insert into event_groups (batch_id, customer_id, at_ns, lines, last_line, types, events, records, actors)
       select gen_random_uuid(), gen_random_uuid(), 1, 1, 1, '{transfer.test.completed}', '', '', '{}'
       from generate_series(1, $1)`,
      [count],
    );
  await insert(3_000);
  await test.database.query('analyze event_groups');
  while ((await sequence(test.database, 1_000)).count > 0);
  await test.database.query('vacuum event_groups');
  await insert(1);
  const connection = await test.database.reserve();
  const explained = explaining(connection);
  let last: Promise<unknown> = Promise.resolve();
  // The recorder explains one statement after another.
  const query = (text: string, parameters: never) => {
    last = last.then(() => explained.query(text, parameters));
    return last;
  };
  const database = { transaction: (work: (tx: unknown) => unknown) => work({ query }) };
  const { count } = await sequence(database as never, 1_000);
  connection.release();
  expect(count).toBe(1);
  expect(Math.max(...explained.readings.map(rowsRead))).toBeLessThan(10);
});
