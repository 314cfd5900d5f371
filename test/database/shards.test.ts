import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byShard, createShards, hashOf } from '../../src/database/shards.ts';
import { newId } from '../../src/kernel/id.ts';
import { packEntries } from '../../src/ledger/store.ts';
import { LIMITS } from '../../src/limits.ts';
import { newGroupId, sideIds } from '../../src/transfers/transfer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { minimumsOf, placesOf } from '../support/shards.ts';

describe('the hash of an id', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it("is PostgreSQL's", async () => {
    const rows = await test.database.query<{ id: string; hash: number }>(
      `select id, uuid_hash(id) as hash from (
         select gen_random_uuid() as id from generate_series(1, 500)
         union all values ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)) as ids`,
    );
    expect(rows.map(({ id }) => hashOf(id))).toEqual(rows.map(({ hash }) => hash));
  });
});

describe.each([1, 2, 8, 32])('%i shards', (count) => {
  const minimums = minimumsOf(count);

  it('have each row where its hash belongs', () => {
    const { indexOf } = createShards(placesOf(minimums.toReversed()));
    for (let one = 0; one < 300; one += 1) {
      const id = newId();
      const index = indexOf(id);
      expect(hashOf(id)).toBeGreaterThanOrEqual(minimums[index]!);
      expect(hashOf(id)).toBeLessThan(minimums[index + 1] ?? 2 ** 31);
    }
  });

  it('get both sides of all transfers of a moment in one, and those of the next moment in the next', () => {
    let nowMs = 0;
    const shards = createShards(placesOf(minimums), () => nowMs);
    const homes = Array.from({ length: count * 2 }, (_, turn) => {
      nowMs = turn * LIMITS.shardTurnMs;
      const ids = Array.from({ length: 20 }, () => newGroupId(shards));
      expect(new Set(ids).size).toBe(ids.length);
      // The first eight digits are the time, and the version and the variant are those of UUIDv7.
      for (const id of ids)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{11}[048c]$/);
      const found = new Set(ids.flatMap(sideIds).map(shards.indexOf));
      expect(found.size).toBe(1);
      return [...found][0]!;
    });
    for (const [turn, home] of homes.entries()) expect(home).toBe((homes[0]! + turn) % count);
  });

  it('group rows without losing or mixing any', () => {
    const shards = createShards(placesOf(minimums));
    const ids = Array.from({ length: 500 }, newId);
    const groups = byShard(shards, ids, (id) => id);
    expect(groups.flat().toSorted()).toEqual(ids.toSorted());
    const indexes = groups.map((group) => new Set(group.map(shards.indexOf)));
    expect(indexes.every(({ size }) => size === 1)).toBe(true);
    const order = indexes.flatMap((index) => [...index]);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
  });
});

describe.each([
  [8, 2],
  [32, 4],
  [5, 3],
  [3, 5],
  [1_024, 64],
])('%i shards on %i servers', (count, servers) => {
  const shards = createShards(placesOf(minimumsOf(count), servers));

  it('know the id of each, and one that is at home on the same server', () => {
    expect(shards.servers).toBe(Math.min(count, servers));
    const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
    expect(shards.all.map(({ id }) => id)).toEqual(ids);
    const homes = shards.all.map(({ homeId }) => shards.indexOf(homeId!) % servers);
    expect(homes).toEqual(ids.map((_, index) => index % servers));
    expect(new Set(shards.all.map(({ homeId }) => homeId)).size).toBe(shards.servers);
  });
});

it('shards with copies are at home where all their copies are', () => {
  const [one, two, three, four] = minimumsOf(4);
  const shards = createShards(
    `1 ${one} 1,1 ${one} 2,2 ${two} 1,2 ${two} 3,3 ${three} 1,3 ${three} 2,4 ${four} 2`,
  );
  const [first, second, third, fourth] = shards.all.map(({ homeId }) => homeId!);
  expect([first, second, third, fourth].map((id) => [0, 2].includes(shards.indexOf(id!)))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(first).toBe(third);
  expect([second, fourth].map((id) => shards.indexOf(id!))).toEqual([1, 3]);
  expect(shards.servers).toBe(3);
});

/** As `isolate_tenant_to_new_shard` makes it, moved to a server of its own. */
it('a shard of one hash costs no time, and gets no new transfers', () => {
  const tenant = newId();
  const hash = hashOf(tenant);
  let nowMs = 0;
  const shards = createShards(`1 ${-(2 ** 31)} 1,2 ${hash} 2,3 ${hash + 1} 1`, () => nowMs);
  expect(shards.indexOf(tenant)).toBe(1);
  expect(shards.servers).toBe(2);
  expect(shards.all[1]).toEqual({ id: 2n, homeId: undefined });
  const others = new Set<number>();
  for (; nowMs < 6 * LIMITS.shardTurnMs; nowMs += LIMITS.shardTurnMs)
    for (const id of sideIds(newGroupId(shards))) others.add(shards.indexOf(id));
  expect(others.has(1)).toBe(false);
  const [packed] = packEntries(shards, [
    {
      ownerId: tenant,
      asset: 'USD',
      account: 'available',
      atNs: 1n,
      line: 0,
      posting: 0,
      causeId: newId(),
      delta: 1n,
      balanceAfter: 1n,
    },
  ]);
  expect(packed).toMatchObject({ key: tenant, shard: 2n });
});

it('on one server, all rows are one group', () => {
  const ids = [newId(), newId()];
  expect(byShard(undefined, ids, (id) => id)).toEqual([ids]);
});
