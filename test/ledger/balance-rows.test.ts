import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/database/database.ts';
import type { Shards } from '../../src/database/shards.ts';
import { newId } from '../../src/kernel/id.ts';
import {
  changeBalances,
  createMissingBalances,
  lockBalances,
  updateBalances,
} from '../../src/ledger/balance-rows.ts';
import type { BalanceRow } from '../../src/ledger/book.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { someShards } from '../support/shards.ts';

/** On a cluster, each shard has statements and packed rows of its own. One server can execute and unpack these as well. */
const FORMS = [
  ['all together', () => undefined],
  ['by shards', someShards],
] as const;

const byKey = (rows: readonly BalanceRow[]): BalanceRow[] =>
  rows.toSorted((one, other) =>
    `${one.profileId}${one.asset}` < `${other.profileId}${other.asset}` ? -1 : 1,
  );

describe.each(FORMS)('rows of balances, %s', (form, shardsOf) => {
  let test: TestDatabase;
  let shards: Shards | undefined;
  let keys: { profileId: string; asset: string }[];
  beforeAll(async () => {
    test = await createTestDatabase();
    shards = await shardsOf(test.database);
    keys = Array.from({ length: 40 }, (__, index) => ({
      profileId: newId(),
      asset: index % 3 === 0 ? 'BTC' : 'USD',
    }));
    await createMissingBalances(test.database, keys);
    await test.database.transaction((tx) => updateBalances({ ...tx, shards }, keys.map(rowOf)));
  });
  afterAll(() => test.drop());

  const rowOf = (key: { profileId: string; asset: string }, index: number): BalanceRow => ({
    ...key,
    available: BigInt(index) * 7n,
    held: BigInt(index),
    movedAtNs: BigInt(index) + 1n,
  });
  const stored = async (): Promise<BalanceRow[]> =>
    byKey(
      await test.database.query<BalanceRow>(
        'select profile_id as "profileId", asset, available, held, moved_at_ns as "movedAtNs" from balances',
      ),
    );
  const inside = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    test.database.transaction((tx) => work({ ...tx, shards }));
  const clock = async (): Promise<bigint> => {
    const [row] = await test.database.query<{ now: bigint }>(
      'select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 as now',
    );
    return row!.now;
  };

  it('are locked and read, as far as there are any', async () => {
    const missing = { profileId: newId(), asset: 'USD' };
    const locked = await inside((tx) => lockBalances(tx, [...keys, missing]));
    expect(byKey(locked)).toEqual(byKey(keys.map(rowOf)));
    expect(byKey(locked)).toEqual(await stored());
  });

  it('change if they are what they were', async () => {
    const before = await stored();
    const next = before.map((row) => ({
      ...row,
      available: row.available + 5n,
      movedAtNs: row.movedAtNs + 9n,
    }));
    const nowNs = await clock();
    const old = new Map(next.map((row, index) => [row, before[index]!]));
    const [row] = await inside((tx) => changeBalances(tx, next, (one) => old.get(one)!, nowNs));
    expect(row!.now_ns).toBeGreaterThanOrEqual(nowNs);
    expect(await stored()).toEqual(next);
  });

  it.each([
    ['another amount is available', { available: 1n }],
    ['another amount is held', { held: 1n }],
    ['it moved since', { movedAtNs: 1n }],
    ['it does not exist', { profileId: newId() }],
    ['the time is ahead of the clock', { aheadNs: 60_000_000_000n }],
    ['the time is far behind the clock', { aheadNs: -60_000_000_000n }],
  ])(
    'do not change if %s, and nothing else does',
    async (__, {
      profileId,
      aheadNs = 0n,
      ...wrong
    }: {
      profileId?: string;
      aheadNs?: bigint;
      available?: bigint;
      held?: bigint;
      movedAtNs?: bigint;
    }) => {
      const before = await stored();
      const rows = before.map((row, index) => ({
        ...row,
        ...(index === 17 && profileId !== undefined && { profileId }),
        held: row.held + 1n,
      }));
      const version = (row: BalanceRow) => {
        const index = rows.indexOf(row);
        const { available, held, movedAtNs } = before[index]!;
        const one = { available, held, movedAtNs };
        if (index !== 17) return one;
        return {
          available: available + (wrong.available ?? 0n),
          held: held + (wrong.held ?? 0n),
          movedAtNs: movedAtNs + (wrong.movedAtNs ?? 0n),
        };
      };
      const nowNs = (await clock()) + aheadNs;
      await expect(inside((tx) => changeBalances(tx, rows, version, nowNs))).rejects.toMatchObject({
        code: '40001',
      });
      expect(await stored()).toEqual(before);
    },
  );

  if (form === 'by shards')
    it('do not change if a shard is not where it was', async () => {
      const before = await stored();
      const nowNs = await clock();
      const versions = new Map(before.map((row) => [{ ...row, held: row.held + 1n }, row]));
      const change = (places: string): Promise<unknown> =>
        test.database.transaction((tx) =>
          changeBalances(
            { ...tx, shards: { ...shards!, places } },
            [...versions.keys()],
            (row) => versions.get(row)!,
            nowNs,
          ),
        );
      const { places } = shards!;
      await expect(change(places.replace(/\d+$/, '99'))).rejects.toMatchObject({
        code: '40001',
        message: 'a shard changed since it was read',
      });
      expect(await stored()).toEqual(before);
      await change(places);
      expect(await stored()).toEqual(byKey([...versions.keys()]));
    });

  it('are not sent at all if one cannot be: the statements after it would be committed without it', async () => {
    const before = await stored();
    const version = { available: 0n, held: 0n, movedAtNs: 0n };
    const broken = [...before, { ...before[0]!, available: 'much' as never }];
    await inside(async (tx) => {
      const sent: string[] = [];
      const watched: Transaction = {
        ...tx,
        query: (statement, parameters) => {
          sent.push(JSON.stringify(statement));
          return tx.query(statement, parameters);
        },
        copy: (messages) => {
          sent.push(messages.statement);
          return tx.copy(messages);
        },
      };
      expect(() => changeBalances(watched, broken, () => version, 0n)).toThrow(TypeError);
      expect(sent).toEqual([]);
    });
  });
});
