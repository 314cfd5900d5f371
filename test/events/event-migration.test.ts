import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection } from '../../src/database/database.ts';
import { FEED_START, LINE_MAX } from '../../src/events/event.ts';
import { findEvent, readFeed, sequence } from '../../src/events/feed-store.ts';
import { newId } from '../../src/kernel/id.ts';
import { listDeliveries, replaySince } from '../../src/webhooks/delivery-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { databaseBefore } from '../support/migrations.ts';

const bounds = { limit: 1_000, scanMax: 1_000 };
const [alice, bob] = [newId(), newId()];
const endpoint = { id: newId(), customerId: alice };
const resource = newId();

type Old = {
  id: string;
  group: string;
  line: number;
  customer: string;
  type: string;
  at: bigint;
  text: string;
};
const old: Old[] = [];

/** A group in the old format with that many events; the first event of each group is about the same resource. */
async function writeGroup(connection: Connection, customer: string, position: bigint | null, count: number) {
  const group = newId();
  const start = BigInt(old.length + 1) * 1_000n;
  await connection.query(
    'insert into event_groups (id, customer_id, at_ns, position) values ($1, $2, $3, $4)',
    [group, customer, start + BigInt(count), position],
  );
  for (let line = 1; line <= count; line += 1) {
    const type = line % 2 === 0 ? 'transfer.even.completed' : 'transfer.odd.completed';
    const text = `{"text":"ä \\n ${'x'.repeat(100)}","line":${line}}`;
    const at = start + BigInt(line);
    const event = { id: newId(), group, line, customer, type, at, text };
    old.push(event);
    await connection.query(
      `insert into events (id, group_id, line, customer_id, type, resource_id, at_ns, resource)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [event.id, group, line, customer, type, line === 1 ? resource : newId(), at, text],
    );
  }
}

/** Its current id. */
const newIdOf = ({ group, line }: Old): string => group.slice(0, -4) + line.toString(16).padStart(4, '0');
const ofAlice = (): Old[] => old.filter((event) => event.customer === alice);

let test: TestDatabase;
beforeAll(async () => {
  const before = await databaseBefore('event_packs');
  const { connection } = before;
  test = before.test;
  await writeGroup(connection, alice, 1n, 30);
  await writeGroup(connection, bob, 2n, 3);
  await writeGroup(connection, alice, 3n, 1);
  await writeGroup(connection, alice, null, 2);
  await connection.query('update event_sequence set position = 3, at_ns = 40000');
  await connection.query(
    `insert into webhook_progress (endpoint_id, customer_id, position, line) values ($1, $2, 1, 7)`,
    [endpoint.id, alice],
  );
  for (const event of [ofAlice()[4]!, ofAlice()[20]!]) {
    await connection.query(
      `insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, position, line, resource_id, trigger,
                                       status, due_at_ms, created_at_ns, updated_at_ns)
       values ($1, $2, $3, $4, 1, $5::integer, $1, 'EVENT', 'PENDING', 0, $5::integer, $5::integer)`,
      [newId(), endpoint.id, alice, event.id, event.line],
    );
  }
  await connection.query('begin');
  await before.migrate();
  await connection.commit();
  connection.release();
});
afterAll(() => test.drop());

describe('events that were written one by one', () => {
  it('are in the feed as they were, in the same places', async () => {
    const page = await readFeed(test.database, alice, {}, FEED_START, bounds);
    const visible = ofAlice().slice(0, 31);
    expect(page.events.map((event) => event.id)).toEqual(visible.map(newIdOf));
    expect(page.events.map(({ type, atNs, line, resource: text }) => ({ type, atNs, line, text }))).toEqual(
      visible.map(({ type, at, line, text }) => ({ type, atNs: at, line, text })),
    );
    expect(page.next).toEqual({ position: 3n, line: 1 });
    const rest = await readFeed(test.database, alice, {}, { position: 1n, line: 28 }, bounds);
    expect(rest.events.map((event) => event.id)).toEqual(visible.slice(28).map(newIdOf));
    const none = await readFeed(test.database, alice, {}, { position: 3n, line: LINE_MAX }, bounds);
    expect(none.events).toEqual([]);
  });

  it('are found by type, by resource and by their new ids', async () => {
    const even = await readFeed(test.database, alice, { types: ['*.even.*'] }, FEED_START, bounds);
    expect(even.events).toHaveLength(15);
    const found = await readFeed(test.database, alice, { resourceIds: [resource] }, FEED_START, bounds);
    expect(found.events.map((event) => event.id)).toEqual([0, 30].map((index) => newIdOf(ofAlice()[index]!)));
    const [first] = old;
    expect(await findEvent(test.database, alice, newIdOf(first!))).toMatchObject({ resource: first!.text });
    expect(await findEvent(test.database, bob, newIdOf(first!))).toBeUndefined();
    expect(await findEvent(test.database, alice, first!.id)).toBeUndefined();
  });

  it('get their position when they had none', async () => {
    expect(await sequence(test.database, 100)).toEqual({ count: 1, position: 4n });
    const { events } = await readFeed(test.database, alice, {}, { position: 3n, line: LINE_MAX }, bounds);
    expect(events.map((event) => event.id)).toEqual(ofAlice().slice(31).map(newIdOf));
  });

  it('still belong to their deliveries, which a replay drops by the time of the event', async () => {
    const page = {
      limit: 10,
      descending: false,
      orderBy: 'created_at',
      after: undefined,
      ranges: [],
    } as const;
    const list = async () => (await listDeliveries(test.database, endpoint, {}, page)).rows;
    const wanted = [ofAlice()[4]!, ofAlice()[20]!];
    expect((await list()).map((row) => row.eventId)).toEqual(wanted.map(newIdOf));
    expect((await list()).map((row) => row.event.resource)).toEqual(wanted.map((event) => event.text));
    await replaySince(test.database, endpoint.id, wanted[1]!.at);
    expect((await list()).map((row) => row.eventId)).toEqual([newIdOf(wanted[0]!)]);
  });
});
