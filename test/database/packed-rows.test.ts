import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/database/database.ts';
import { type Packed, sendPacked } from '../../src/database/packed.ts';
import { createShards, hashOf, type Shards } from '../../src/database/shards.ts';
import { newBatchId, newId } from '../../src/kernel/id.ts';
import type { Entry } from '../../src/ledger/book.ts';
import { insertEntries, packEntries } from '../../src/ledger/store.ts';
import { newInsideTransfers } from '../../src/transfers/store.ts';
import { INSIDE_TYPES, newGroupId, sideIds, type Transfer } from '../../src/transfers/transfer.ts';
import {
  createTestDatabase,
  describeOnOneServer,
  liftGuards,
  type TestDatabase,
} from '../support/database.ts';
import { someShards } from '../support/shards.ts';
import { connectUnlocked } from '../support/vault.ts';

const units = fc.bigInt({ min: 1n, max: 10n ** 38n - 1n });
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
/** What array literals, and literals of statements, would take for their own. */
const difficult = fc.oneof(
  text,
  fc.constantFrom(
    '',
    'NULL',
    'null',
    '{}',
    '{"a","b"}',
    'a,b',
    `it's`,
    String.raw`\n\\"`,
    '%L',
    '$1',
    '"',
    ' ',
    '\u2028',
    '\t\n',
  ),
);
const instants = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });

const entries: fc.Arbitrary<Entry> = fc.record({
  ownerId: fc.constant(0).map(newId),
  asset: fc.constantFrom('USD', 'BTC'),
  account: fc.constantFrom('available', 'held'),
  atNs: instants,
  line: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  posting: fc.integer({ min: 0, max: 2 ** 15 - 1 }),
  causeId: fc.constant(0).map(newId),
  delta: fc.oneof(
    units,
    units.map((amount) => -amount),
  ),
  balanceAfter: units,
});
const systemEntries = entries.map((entry) => ({ ...entry, account: 'fees', balanceAfter: null }));

const transfers: fc.Arbitrary<Transfer> = fc
  .record({
    type: fc.constantFrom(...INSIDE_TYPES),
    direction: fc.constantFrom('DEBIT', 'CREDIT'),
    amountUnits: units,
    at: instants,
    identityId: fc.option(fc.constant(0).map(newId)),
    accountId: fc.option(fc.constant(0).map(newId), { nil: undefined }),
    refId: fc.option(difficult),
    metadata: fc.option(fc.dictionary(difficult, difficult)),
  })
  .map(({ amountUnits, at, ...rest }) => {
    const groupId = newGroupId();
    return {
      ...rest,
      id: sideIds(groupId)[0],
      customerId: newId(),
      profileId: newId(),
      status: 'COMPLETED',
      asset: 'USD',
      amountUnits,
      feeUnits: 0n,
      balanceAsset: 'USD',
      balanceUnits: amountUnits,
      createdAtNs: at,
      updatedAtNs: at,
      groupId,
      batchId: newBatchId(),
    } as Transfer;
  });

const inTransaction = (database: Database, packed: readonly Packed[]): Promise<void> =>
  database.transaction((tx) => sendPacked(tx, packed));

describe('packed rows', () => {
  let copied: TestDatabase;
  let unpacked: TestDatabase;
  let serving: Database;
  let shards: Shards;
  beforeAll(async () => {
    [copied, unpacked] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    serving = connectUnlocked(unpacked.servingAddress, 2);
    shards = await someShards(unpacked.database);
  });
  afterAll(async () => {
    await serving.close();
    await Promise.all([copied.drop(), unpacked.drop()]);
  });

  async function expectEqual(table: string, key: string): Promise<void> {
    const read = ({ database }: TestDatabase): Promise<unknown[]> =>
      database.query(`select * from ${table} order by ${key}`);
    const rows = await read(unpacked);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(await read(copied));
  }

  it('become the entries that a COPY writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(entries, systemEntries), { minLength: 1, maxLength: 40 }),
        async (rows) => {
          await copied.database.transaction((tx) => insertEntries(tx, rows));
          await inTransaction(serving, packEntries(shards, rows));
        },
      ),
      { numRuns: 20 },
    );
    await expectEqual('entries', 'owner_id');
  });

  it('become the transfers that a COPY writes, whatever their texts contain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transfers, { minLength: 1, maxLength: 40 }), async (rows) => {
        await copied.database.transaction((tx: Transaction) => newInsideTransfers.write!(tx, rows, ''));
        await inTransaction(serving, newInsideTransfers.pack!(shards, rows));
      }),
      { numRuns: 20 },
    );
    await expectEqual('transfers', 'id');
  });

  it('are never stored', async () => {
    expect(await unpacked.database.query('select from packed_rows')).toEqual([]);
  });

  it.each([
    ['causeId', 'NULL'],
    ['causeId', 7],
    ['delta', '5'],
    ['delta', 5],
    ['delta', Number.NaN],
    ['atNs', 1],
    ['line', 1.5],
    ['line', 1n],
    ['asset', 7],
  ])('are not sent if %s is %s, which its column cannot have', (name, value) => {
    const [entry] = fc.sample(entries, 1);
    expect(() => packEntries(shards, [{ ...entry!, [name]: value }])).toThrow(TypeError);
  });

  it('are refused, not stored, where the trigger does not run', async () => {
    const send = (tx: Transaction): Promise<void> =>
      sendPacked(tx, packEntries(shards, fc.sample(entries, 3)));
    await expect(
      unpacked.database.transaction(async (tx) => {
        await liftGuards(tx);
        await send(tx);
      }),
    ).rejects.toThrow('packed_rows_are_not_stored');
  });
});

/** The names of shards, and the catalog that has their ranges, as a server of a cluster has them. */
describeOnOneServer('packed rows of a shard', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    for (const statement of [
      'create table pg_dist_shard (logicalrelid regclass, shardid bigint, shardminvalue text, shardmaxvalue text)',
      `insert into pg_dist_shard values ('entries', 17, '-2147483648', '-1'), ('entries', 18, '0', '2147483647'),
        ('balances', 27, '-2147483648', '-1'), ('balances', 28, '0', '2147483647')`,
      'create table balances_27 (like balances including all)',
      'create table entries_17 (like entries including all)',
    ])
      await test.database.query(statement);
  });
  afterAll(() => test.drop());

  const entryWhere = (isInFirst: boolean): Entry =>
    fc.sample(
      entries.filter(({ ownerId }) => hashOf(ownerId) < 0 === isInFirst),
      1,
    )[0]!;
  /** What a node knows that does not know of the second shard. */
  const outdated = createShards(`27 ${-(2 ** 31)} 1`);
  const send = (tx: Transaction, rows: readonly Entry[]): Promise<void> =>
    sendPacked(tx, packEntries(outdated, rows));
  const owners = async (table: string): Promise<string[]> =>
    (await test.database.query<{ id: string }>(`select owner_id as id from ${table}`)).map(({ id }) => id);

  it('are unpacked into the shard beside it, and refused if one belongs to another', async () => {
    const [first, second, stray] = [entryWhere(true), entryWhere(true), entryWhere(false)];
    await test.database.transaction((tx) => send(tx, [first]));
    const refusal: unknown = await test.database
      .transaction((tx) => send(tx, [second, stray]))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: '40001', message: 'a shard changed since it was read' });
    // It happens every day, and servers log it.
    expect(inspect(refusal, { depth: 5 })).not.toContain(second.causeId);
    expect(await owners('entries_17')).toEqual([first.ownerId]);
    expect(await owners('entries')).toEqual([]);
  });

  it('of balances say whether a balance or the shard is another than it was', async () => {
    const { ownerId: here } = entryWhere(true);
    const { ownerId: elsewhere } = entryWhere(false);
    await test.database.query(`insert into balances_27 values ($1, 'USD', 5, 1, 7)`, [here]);
    const change = (ids: readonly string[], available: number): Promise<unknown> => {
      const columns = [
        ids,
        ...['USD', available + 1, 1, 8, available, 1, 7].map((value) => ids.map(() => value)),
      ].map((values) => `{${values.join()}}`);
      const names =
        'profile_id,asset,available,held,moved_at_ns,available_before,held_before,moved_before_ns';
      return inTransaction(test.database, [{ key: here, shard: 27n, target: 'balances', names, columns }]);
    };
    await expect(change([here], 4)).rejects.toMatchObject({ message: 'a balance changed since it was read' });
    await expect(change([here, elsewhere], 5)).rejects.toMatchObject({
      message: 'a shard changed since it was read',
    });
    await change([here], 5);
    expect(
      await test.database.query('select available, held, moved_at_ns as moved from balances_27'),
    ).toEqual([{ available: 6n, held: 1n, moved: 8n }]);
  });

  it('are refused if the shard has left the server, and nothing of them is in the log', async () => {
    const session = connectUnlocked(test.address, 1);
    const refusals: unknown[] = [];
    try {
      const entry = entryWhere(true);
      // A statement that is prepared, and one that is not.
      await session.transaction((tx) => send(tx, [entryWhere(true)]));
      for (const database of [session, test.database]) {
        await test.database.query('alter table entries_17 rename to entries_gone');
        await database.transaction((tx) => send(tx, [entry])).catch((error) => refusals.push(error));
        await test.database.query('alter table entries_gone rename to entries_17');
      }
      await test.database
        .transaction((tx) => sendPacked(tx, [{ ...packEntries(outdated, [entry])[0]!, shard: 26n }]))
        .catch((error) => refusals.push(error));
      expect(refusals).toHaveLength(3);
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ code: '40001', message: 'a shard changed since it was read' });
        expect(inspect(refusal, { depth: 5 })).not.toContain(entry.causeId);
      }
      await session.transaction((tx) => send(tx, [entry]));
      expect(await owners('entries_17')).toContain(entry.ownerId);
    } finally {
      await session.close();
    }
  });

  it('can be unpacked by a session whose first transaction was rolled back', async () => {
    const fresh = connectUnlocked(test.address, 1);
    const connection = await fresh.reserve();
    const known = async (): Promise<unknown> =>
      (
        await connection.query<{ known: string | null }>(
          `select current_setting('ferry.unpack_entries_27', true) as known`,
        )
      )[0]!.known;
    try {
      expect(await known()).toBeNull();
      const [lost, kept] = [entryWhere(true), entryWhere(true)];
      for (const [entry, end] of [
        [lost, 'rollback'],
        [kept, 'commit'],
      ] as const) {
        await connection.query('begin');
        await send(connection, [entry]);
        await connection.query(end);
        if (end === 'rollback') expect(await known()).toBe('');
      }
      expect(await owners('entries_17')).toContain(kept.ownerId);
      expect(await owners('entries_17')).not.toContain(lost.ownerId);
    } finally {
      connection.discard();
      await fresh.close();
    }
  });
});
