import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/database.ts';
import { isId, newBatchId, newId } from '../../src/kernel/id.ts';
import { formatInstant } from '../../src/kernel/instant.ts';
import { type Found, type Page, pageOf, readPage } from '../../src/kernel/paging.ts';
import { listSettlements } from '../../src/settlement/list-store.ts';
import { newSettlements } from '../../src/settlement/store.ts';
import { SETTLEMENT_STATUSES, type Settlement } from '../../src/settlement/transaction.ts';
import { listTransfers } from '../../src/transfers/list-store.ts';
import { newTransfers } from '../../src/transfers/store.ts';
import {
  INSIDE_TYPES,
  newGroupId,
  sideIds,
  TRANSFER_STATUSES,
  type Transfer,
} from '../../src/transfers/transfer.ts';
import { createTestDatabase, type TestDatabase, unguarded } from '../support/database.ts';

/** Compares lists, page by page and for random queries, with filtering and sorting all rows in memory. */
const ROWS = 120;
const START_NS = 1_700_000_000_000_000_000n;

const [me, other] = [newId(), newId()];
const some = (): string[] => [newId(), newId(), newId()];
const [profiles, accounts, identities] = [some(), some(), some()];
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;
const maybe = <Item>(item: Item): Item | null => (Math.random() < 0.5 ? item : null);
/** Few values, so that many rows share one. */
const instant = (): bigint => START_NS + BigInt(Math.floor(Math.random() * 40));

function someTransfer(): Transfer {
  const isInside = Math.random() < 0.5;
  const type = isInside
    ? pick(INSIDE_TYPES)
    : pick(['WIRE_DEPOSIT', 'WIRE_WITHDRAWAL', 'CRYPTO_WITHDRAWAL'] as const);
  const group = newGroupId();
  const createdAtNs = instant();
  return {
    id: isInside ? pick(sideIds(group)) : newId(),
    customerId: pick([me, me, other]),
    profileId: pick(profiles),
    type,
    direction: 'DEBIT',
    status: isInside ? 'COMPLETED' : pick(TRANSFER_STATUSES),
    asset: 'USD',
    amountUnits: 1n,
    feeUnits: 0n,
    balanceAsset: 'USD',
    balanceUnits: 1n,
    createdAtNs,
    updatedAtNs: createdAtNs + (isInside ? 0n : BigInt(Math.floor(Math.random() * 20))),
    identityId: maybe(pick(identities)),
    accountId: maybe(pick(accounts)),
    groupId: isInside ? group : null,
    cryptoTxHash: type.startsWith('CRYPTO') ? pick(['one', 'two', 'three']) : null,
  };
}

function someSettlement(): Settlement {
  const [sourceProfileId, targetProfileId] = fc.sample(
    fc.shuffledSubarray(profiles, { minLength: 2 }),
    1,
  )[0]!;
  const createdAtNs = instant();
  return {
    id: newId(),
    customerId: pick([me, other]),
    targetCustomerId: pick([me, other]),
    refId: newId(),
    sourceProfileId: sourceProfileId!,
    targetProfileId: targetProfileId!,
    windowStartNs: 0n,
    windowEndNs: 1n,
    status: pick(SETTLEMENT_STATUSES),
    secondaryStatus: null,
    legs: [],
    createdAtNs,
    updatedAtNs: createdAtNs + BigInt(Math.floor(Math.random() * 20)),
  };
}

const transfers = Array.from({ length: ROWS }, someTransfer);
const settlements = Array.from({ length: ROWS }, someSettlement);

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await test.database.transaction((tx) => newTransfers.write!(tx, transfers, newBatchId()));
  await test.database.transaction((tx) => newSettlements.write!(tx, settlements, newBatchId()));
});
afterAll(() => test.drop());

type Row = { readonly id: string; readonly createdAtNs: bigint; readonly updatedAtNs: bigint };
type Filters = Readonly<Record<string, readonly string[] | undefined>>;
type Model<Item> = { readonly [name: string]: (row: Item, values: readonly string[]) => boolean };

const OPERATORS: Record<string, (ns: bigint, bound: bigint) => boolean> = {
  lt: (ns, bound) => ns < bound,
  lte: (ns, bound) => ns <= bound,
  eq: (ns, bound) => ns === bound,
  gte: (ns, bound) => ns >= bound,
  gt: (ns, bound) => ns > bound,
};

/** Up to two filters, each with up to four values, possibly duplicates. */
function wantedOf(values: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Filters> {
  const names = fc.subarray(Object.keys(values), { maxLength: 2 });
  return names.chain((chosen) =>
    fc.record(
      Object.fromEntries(
        chosen.map((name) => [
          name,
          fc.array(fc.constantFrom(...values[name]!), { minLength: 1, maxLength: 4 }),
        ]),
      ),
    ),
  );
}

const time = (column: string): fc.Arbitrary<[string, bigint]> =>
  fc.tuple(
    fc.constantFrom(...Object.keys(OPERATORS)).map((name) => `${column}.${name}`),
    fc.integer({ min: -1, max: 60 }).map((offset) => START_NS + BigInt(offset)),
  );
const query = fc.record({
  limit: fc.constantFrom(5, 20, 100),
  order: fc.constantFrom('ASC', 'DESC'),
  order_by: fc.constantFrom('CREATED_AT', 'UPDATED_AT'),
  times: fc.array(fc.oneof(time('created_at'), time('updated_at')), { maxLength: 2 }),
});
type Query = typeof query extends fc.Arbitrary<infer Value> ? Value : never;

async function walk<Item extends Row>(
  list: (database: Queryable, page: Page) => Promise<Found<Item>>,
  { times, ...given }: Query,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const ranges = Object.fromEntries(times.map(([name, ns]) => [name, formatInstant(ns)]));
    const page = readPage({ ...given, ...ranges, page_cursor: cursor }, 'test');
    const text = await pageOf(await list(test.database, page), page, (row) => row.id);
    const body: { items: string[]; next_page_cursor?: string } = JSON.parse(text);
    expect(body.items.length).toBeLessThanOrEqual(given.limit);
    ids.push(...body.items);
    cursor = body.next_page_cursor;
  } while (cursor !== undefined);
  return ids;
}

function expected<Item extends Row>(
  rows: readonly Item[],
  model: Model<Item>,
  filters: Filters,
  given: Query,
): string[] {
  const key = given.order_by === 'UPDATED_AT' ? 'updatedAtNs' : 'createdAtNs';
  // If a time filter is given twice, the last one counts.
  const times = Object.entries(Object.fromEntries(given.times));
  const ids = rows
    .filter((row) =>
      Object.entries(filters).every(([name, values]) => values === undefined || model[name]!(row, values)),
    )
    .filter((row) =>
      times.every(([name, ns]) => {
        const [column, operator] = name.split('.') as [string, string];
        return OPERATORS[operator]!(column === 'created_at' ? row.createdAtNs : row.updatedAtNs, ns);
      }),
    )
    .toSorted((a, b) => (a[key] === b[key] ? (a.id < b.id ? -1 : 1) : a[key] < b[key] ? -1 : 1))
    .map((row) => row.id);
  return given.order === 'DESC' ? ids.reverse() : ids;
}

it('pages of transfers have every matching row once and in order, for any query', async () => {
  const ids = transfers.map((row) => row.id);
  const groups = transfers.flatMap((row) => row.groupId ?? []);
  const filters = wantedOf({
    ids,
    group_ids: [...groups, ...ids.slice(0, 9)],
    crypto_tx_hashes: ['one', 'two', 'none'],
    profile_ids: [...profiles, newId()],
    account_ids: [...accounts, newId()],
    identity_ids: identities,
    type: [
      'PLATFORM_TRANSFER_DEBIT',
      'INTERNAL_TRANSFER_CREDIT',
      'WIRE_DEPOSIT',
      'WIRE_WITHDRAWAL',
      'SEN_DEPOSIT',
    ],
    statuses: TRANSFER_STATUSES,
  });
  const model: Model<Transfer> = {
    ids: (row, values) => values.includes(row.id),
    group_ids: (row, values) => values.includes(row.groupId ?? ''),
    crypto_tx_hashes: (row, values) => values.includes(row.cryptoTxHash ?? ''),
    profile_ids: (row, values) => values.includes(row.profileId),
    account_ids: (row, values) => values.includes(row.accountId ?? ''),
    identity_ids: (row, values) => values.includes(row.identityId ?? ''),
    type: (row, values) => values.includes(row.type),
    statuses: (row, values) => values.includes(row.status),
  };
  const own = transfers.filter((row) => row.customerId === me);
  await fc.assert(
    fc.asyncProperty(filters, query, async (wanted, given) => {
      const found = await walk((database, page) => listTransfers(database, me, wanted, page), given);
      expect(found).toEqual(expected(own, model, wanted, given));
    }),
    { numRuns: 150 },
  );
});

it('pages of settlement transactions have every matching row once and in order, for any query', async () => {
  const filters = wantedOf({
    ids: settlements.map((row) => row.id),
    ref_ids: settlements.map((row) => row.refId),
    profile_ids: [...profiles, newId()],
    statuses: SETTLEMENT_STATUSES,
  });
  const model: Model<Settlement> = {
    ids: (row, values) => values.includes(row.id),
    ref_ids: (row, values) => row.customerId === me && values.includes(row.refId),
    profile_ids: (row, values) =>
      values.includes(row.sourceProfileId) || values.includes(row.targetProfileId),
    statuses: (row, values) => values.includes(row.status),
  };
  const own = settlements.filter((row) => row.customerId === me || row.targetCustomerId === me);
  await fc.assert(
    fc.asyncProperty(filters, query, async (wanted, given) => {
      const found = await walk((database, page) => listSettlements(database, me, wanted, page), given);
      expect(found).toEqual(expected(own, model, wanted, given));
    }),
    { numRuns: 80 },
  );
});

it('the schema enforces what the lists assume about transfers inside the service', async () => {
  const inside = transfers.find((row) => row.groupId !== null)!;
  const outside = transfers.find((row) => row.groupId === null)!;
  const changed = (id: string, change: string): Promise<unknown> =>
    unguarded(test.database).query(`update transfers set ${change} where id = $1 returning id`, [id]);
  for (const change of ["status = 'FAILED'", 'updated_at_ns = updated_at_ns + 1', 'group_id = null']) {
    await expect(changed(inside.id, change), change).rejects.toThrow(/transfers_inside_/);
  }
  for (const change of [`group_id = '${newGroupId()}'`, `type = '${INSIDE_TYPES[0]}'`]) {
    await expect(changed(outside.id, change), change).rejects.toThrow(/transfers_inside_/);
  }
  expect(await changed(outside.id, 'updated_at_ns = updated_at_ns')).toHaveLength(1);
});

it('the ids of both sides of a group are derived from its id, and no two groups share one', () => {
  const groups = Array.from({ length: 1_000 }, newGroupId);
  const names = [...groups, ...groups.flatMap(sideIds)];
  expect(new Set(names).size).toBe(3_000);
  expect(names.every(isId)).toBe(true);
  for (const group of groups)
    for (const side of sideIds(group)) expect(sideIds(side)).toEqual(sideIds(group));
});
