import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOCK_NS } from '../../src/database/clock.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Instant, NS_PER_MS } from '../../src/kernel/instant.ts';
import { changeBalances } from '../../src/ledger/balance-rows.ts';
import { finalInstant } from '../../src/ledger/finality.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { problemOf } from '../support/ledger.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const now = async (): Promise<Instant> =>
  (await test.database.query<{ ns: Instant }>(`select ${CLOCK_NS} as ns`))[0]!.ns;

describe('the final past', () => {
  it('ends a little before now', async () => {
    const before = await now();
    const final = await finalInstant(test.database);
    const behind = BigInt(LIMITS.clockBehindMaxMs) * NS_PER_MS;
    expect(final).toBeGreaterThanOrEqual(before - behind);
    expect(final).toBeLessThanOrEqual((await now()) - behind);
  });

  it('waits for every transaction that may still add to it, and for no later one', async () => {
    const writer = await test.database.reserve();
    await writer.query('begin');
    await writer.query('select pg_current_xact_id()');
    let isFinal = false;
    const final = finalInstant(test.database).then((instant) => {
      isFinal = true;
      return instant;
    });
    const later = await test.database.reserve();
    const reads = test.database.query('select pg_sleep(0.2)');
    await reads;
    await later.query('begin');
    await later.query('select pg_current_xact_id()');
    const ended = await now();
    expect(isFinal).toBe(false);
    await writer.query('commit');
    expect(await final).toBeLessThan(ended);
    await later.query('rollback');
    writer.release();
    later.release();
  });

  it('is unknown while a transaction does not end', async () => {
    const writer = await test.database.reserve();
    await writer.query('begin');
    await writer.query('select pg_current_xact_id()');
    expect((await problemOf(finalInstant(test.database, 50))).slug).toBe('unavailable');
    await writer.query('rollback');
    writer.release();
  });

  it('gets no entry from a batch that was decided too long before', async () => {
    const profileId = newId();
    await test.database.query(`insert into balances (profile_id, asset) values ($1, 'USD')`, [profileId]);
    const commitAt = (behindMs: number, availableBefore: bigint): Promise<void> =>
      test.database.transaction(async (tx) => {
        const nowNs = (await now()) - BigInt(behindMs) * NS_PER_MS;
        const version = { available: availableBefore, held: 0n, movedAtNs: availableBefore === 0n ? 0n : 1n };
        const row = { profileId, asset: 'USD', available: availableBefore + 1n, held: 0n, movedAtNs: 1n };
        await changeBalances(tx, [row], () => version, nowNs);
      });
    await expect(commitAt(LIMITS.clockBehindMaxMs + 1, 0n)).rejects.toThrow();
    await commitAt(0, 0n);
  });
});
