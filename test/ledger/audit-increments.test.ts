import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/database/advisory-locks.ts';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { auditIncrement, type IncrementalReport } from '../../src/ledger/audit-increments.ts';
import { rollUpSystemBalances } from '../../src/ledger/balances.ts';
import { LIMITS } from '../../src/limits.ts';
import {
  createTestDatabase,
  ON_CLUSTER,
  type TestDatabase,
  unguarded,
  untilAuditable,
} from '../support/database.ts';
import { openingBalance } from '../support/funding.ts';
import { assets, createTestWritePath } from '../support/ledger.ts';
import { rounds } from '../support/rounds.ts';

let test: TestDatabase;
let profile: string;
beforeAll(async () => {
  test = await createTestDatabase();
  profile = newId();
});
afterAll(() => test.drop());

async function fundTimes(times: number, database: Database = test.database): Promise<void> {
  const path = createTestWritePath(database);
  await Promise.all(Array.from({ length: times }, () => path.submit(openingBalance(profile, 'USD', 1n))));
  await path.stop();
}

const increment = async (lagMs = 0): Promise<IncrementalReport> =>
  (await auditIncrement(test.database, assets, { lagMs, thorough: true, wait: true }))!;

async function checkpoints(): Promise<{ number: bigint; entries: bigint; until_ns: bigint }[]> {
  return test.database.query('select number, entries, until_ns from audit_checkpoints order by number');
}

describe('an increment', () => {
  it('begins at the beginning, and then continues from its checkpoint', async () => {
    await fundTimes(10);
    expect(await increment()).toMatchObject({ violations: [], entryCount: 20n, newCount: 20n });
    await fundTimes(5);
    expect(await increment()).toMatchObject({ violations: [], entryCount: 30n, newCount: 10n });
    expect((await checkpoints()).map((one) => one.entries)).toEqual([20n, 30n]);
  });

  it('waits for the end of another audit, with `wait`', async () => {
    const other = await test.database.reserve();
    onTestFinished(() => other.discard());
    await other.query(`select pg_advisory_lock(${ADVISORY_LOCKS.audit})`);
    expect(await auditIncrement(test.database, assets, { lagMs: 0 })).toBeUndefined();
    const waiting = increment();
    await sleep(LIMITS.lockTimeoutMs + 500);
    await other.query('select pg_advisory_unlock_all()');
    expect(await waiting).toMatchObject({ violations: [] });
  });

  it('makes no checkpoint if nothing is new', async () => {
    const before = await checkpoints();
    expect(await increment()).toMatchObject({ violations: [], newCount: 0n });
    expect(await checkpoints()).toEqual(before);
  });

  it('audits what is young, and covers it with a checkpoint later', async () => {
    const before = await checkpoints();
    await fundTimes(3);
    await untilAuditable();
    expect(await increment(LIMITS.auditLagMs)).toMatchObject({ violations: [], newCount: 6n });
    expect(await checkpoints()).toEqual(before);
    await unguarded(test.database).query(
      `update balances set available = available + 1 where profile_id = '${profile}'`,
    );
    expect((await increment(LIMITS.auditLagMs)).violations).toHaveLength(1);
    await unguarded(test.database).query(
      `update balances set available = available - 1 where profile_id = '${profile}'`,
    );
    expect(await increment()).toMatchObject({ violations: [], newCount: 6n });
  });

  it('does not go past a violation: every audit reports it until it is mended', async () => {
    const before = await checkpoints();
    const change = (units: number) =>
      unguarded(
        test.database,
      ).query(`update entries set delta = delta + ${units}, balance_after = balance_after + ${units}
        where owner_id = '${profile}' and account = 'available' and at_ns = (select max(at_ns) from entries)`);
    await fundTimes(1);
    await change(1);
    for (const _ of ['first', 'second']) {
      const { violations } = await increment();
      expect(violations.map(({ rule }) => rule)).toContain('posting-balances');
    }
    expect(await checkpoints()).toEqual(before);
    await change(-1);
    expect((await increment()).violations).toEqual([]);
    expect((await checkpoints()).length).toBe(before.length + 1);
  });

  it('audits an entry that was committed after its time was covered, once', async () => {
    const { until_ns: until, entries } = (await checkpoints()).at(-1)!;
    // As from a node that stood still between the decision and its transaction.
    const path = createTestWritePath(test.database);
    const late = newId();
    await path.submit(openingBalance(late, 'USD', 7n));
    await path.stop();
    await unguarded(test.database).query(
      `update entries set at_ns = ${until} - 5 where owner_id = '${late}'`,
    );
    await unguarded(test.database).query(
      `update balances set moved_at_ns = ${until} - 5 where profile_id = '${late}'`,
    );
    await unguarded(test.database).query(
      `update journal_entries set created_at_ns = ${until} - 5 where profile_ids = array['${late}'::uuid]`,
    );
    expect(await increment()).toMatchObject({ violations: [], newCount: 2n });
    expect(await increment()).toMatchObject({ violations: [], newCount: 0n });
    expect((await checkpoints()).at(-1)!.entries).toBe(entries + 2n);
  });

  // On a cluster, not before the clock has caught up.
  it.skipIf(ON_CLUSTER)(
    'audits entries that are ahead of the clock, and covers them when the clock has caught up',
    async () => {
      const ahead = newId();
      const path = createTestWritePath(test.database);
      await path.submit(openingBalance(ahead, 'USD', 7n));
      await unguarded(test.database).query(
        `update entries set at_ns = at_ns + 3600000000000 where owner_id = '${ahead}'`,
      );
      await unguarded(test.database).query(
        `update balances set moved_at_ns = moved_at_ns + 3600000000000 where profile_id = '${ahead}'`,
      );
      const other = createTestWritePath(test.database);
      await other.submit(openingBalance(ahead, 'USD', 7n));
      await Promise.all([path.stop(), other.stop()]);
      const { entries } = (await checkpoints()).at(-1)!;
      expect(await increment()).toMatchObject({ violations: [], newCount: 4n });
      expect((await checkpoints()).at(-1)!.entries).toBe(entries);
    },
  );

  it('catches up in slices, each with its checkpoint', async () => {
    const before = (await checkpoints()).length;
    const { auditSliceEntriesMax } = LIMITS;
    Object.assign(LIMITS, { auditSliceEntriesMax: 1_000 });
    onTestFinished(() => void Object.assign(LIMITS, { auditSliceEntriesMax }));
    const count = LIMITS.auditSliceEntriesMax / 2 + 100;
    await fundTimes(count);
    const report = await increment();
    expect(report).toMatchObject({ violations: [], newCount: BigInt(count) * 2n + (ON_CLUSTER ? 0n : 4n) });
    expect((await checkpoints()).length).toBeGreaterThanOrEqual(before + 2);
  });

  it('reports no violation while commands post and balances are rolled up', async () => {
    const path = createTestWritePath(test.database);
    const done = new AbortController();
    const writers = Array.from({ length: 8 }, async () => {
      while (!done.signal.aborted) {
        await path.submit(openingBalance(profile, 'USD', 1n));
        await rollUpSystemBalances(test.database, 5);
      }
    });
    const found: unknown[] = [];
    for (let count = 0; count < rounds(5, 15); count += 1) found.push(...(await increment(500)).violations);
    done.abort();
    await Promise.all(writers);
    await path.stop();
    expect(found).toEqual([]);
    expect((await increment()).violations).toEqual([]);
  });
});
