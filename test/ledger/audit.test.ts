import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { formatInstant, type Instant } from '../../src/kernel/instant.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { rollUpSystemBalances } from '../../src/ledger/balances.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase, unguarded } from '../support/database.ts';
import {
  assets,
  auditLines,
  available,
  createTestWritePath,
  fund,
  HOLDS,
  held,
  move,
  OUTSIDE,
  pay,
} from '../support/ledger.ts';
import { connectUnlocked } from '../support/vault.ts';

let test: TestDatabase;
let alice: string;
let bob: string;
/** Causes and instants: alice gets 10.00 USD, pays 4.00 to bob, then 1.00 to bob. */
let causes: string[];
let instants: string[];

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
/** Each test damages a small ledger of its own. */
beforeEach(async () => {
  await unguarded(test.database).query('delete from entries');
  await test.database.query('delete from balances');
  await test.database.query('delete from system_deltas');
  await test.database.query('delete from system_balances');
  await unguarded(test.database).query('delete from transfers');
  [alice, bob] = [newId(), newId()];
  const path = createTestWritePath(test.database);
  causes = [];
  instants = [];
  for (const command of [
    fund(alice, 'USD', 1_000n),
    pay(alice, bob, 'USD', 400n),
    pay(alice, bob, 'USD', 100n),
  ]) {
    const outcome = await path.submit(command);
    const cause = outcome.replayed ? outcome.resourceId : outcome.answer;
    const [row] = await test.database.query<{ at_ns: Instant }>(
      'select at_ns from entries where cause_id = $1',
      [cause],
    );
    causes.push(cause);
    instants.push(formatInstant(row!.at_ns));
  }
});

/** Exactly one row is changed. */
async function harm(statement: string, parameters: string[]): Promise<void> {
  const rows = await unguarded(test.database).query(`${statement} returning 1 as harmed`, parameters);
  expect(rows).toHaveLength(1);
}

describe('the audit', () => {
  it('finds nothing in a clean ledger and reports how much it read', async () => {
    await rollUpSystemBalances(test.database, 10);
    expect(await auditEverything(test.database, assets, ENTRY_CHECKS)).toEqual({
      violations: [],
      truncated: false,
      entryCount: 6n,
      accountCount: 2n,
    });
  });

  it('finds nothing in an empty ledger', async () => {
    for (const table of ['entries', 'balances', 'system_deltas']) {
      await unguarded(test.database).query(`delete from ${table}`);
    }
    expect(await auditEverything(test.database, assets, ENTRY_CHECKS)).toEqual({
      violations: [],
      truncated: false,
      entryCount: 0n,
      accountCount: 0n,
    });
  });

  it('finds a changed delta', async () => {
    await harm('update entries set delta = -405 where cause_id = $1 and owner_id = $2', [causes[1]!, alice]);
    expect(await auditLines(test.database)).toEqual([
      `posting-balances: posting 0 of ${causes[1]} at ${instants[1]} has 2 entries of 1 asset(s) that sum to -0.05, not 2 of one that sum to 0`,
      `running-balance-follows: available USD of profile ${alice} at ${instants[1]}, line 1: 10 before and a change of -4.05 do not make 6`,
      `balance-equals-entries: available USD of profile ${alice} is stored as 5, its entries sum to 4.95`,
      'value-is-conserved: all entries of USD together sum to -0.05, not 0',
    ]);
  });

  it('finds a deleted entry', async () => {
    await harm('delete from entries where cause_id = $1 and owner_id = $2', [causes[1]!, bob]);
    expect(await auditLines(test.database)).toEqual([
      `posting-balances: posting 0 of ${causes[1]} at ${instants[1]} has 1 entries of 1 asset(s) that sum to -4, not 2 of one that sum to 0`,
      `running-balance-follows: available USD of profile ${bob} at ${instants[2]}, line 0: 0 before and a change of 1 do not make 5`,
      `balance-equals-entries: available USD of profile ${bob} is stored as 5, its entries sum to 1`,
      'value-is-conserved: all entries of USD together sum to -4, not 0',
    ]);
  });

  it('finds a posting whose entries are all missing, although what is left still sums to zero', async () => {
    const rows = await unguarded(test.database).query(
      'delete from entries where cause_id = $1 returning 1 as gone',
      [causes[2]!],
    );
    expect(rows).toHaveLength(2);
    const lines = await auditLines(test.database);
    expect(lines.sort()).toEqual(
      [
        `balance-equals-entries: available USD of profile ${alice} is stored as 5, its entries sum to 6`,
        `balance-equals-entries: available USD of profile ${bob} is stored as 5, its entries sum to 4`,
      ].sort(),
    );
  });

  it('finds entries of two assets in one posting', async () => {
    await harm("update entries set asset = 'BTC' where cause_id = $1 and owner_id = $2", [causes[2]!, bob]);
    expect(await auditLines(test.database)).toContain(
      `posting-balances: posting 0 of ${causes[2]} at ${instants[2]} has 2 entries of 2 asset(s) that sum to 0, not 2 of one that sum to 0`,
    );
  });

  it('finds a changed running balance', async () => {
    await harm('update entries set balance_after = 601 where cause_id = $1 and owner_id = $2', [
      causes[1]!,
      alice,
    ]);
    expect(await auditLines(test.database)).toEqual([
      `running-balance-follows: available USD of profile ${alice} at ${instants[1]}, line 1: 10 before and a change of -4 do not make 6.01`,
      `running-balance-follows: available USD of profile ${alice} at ${instants[2]}, line 1: 6.01 before and a change of -1 do not make 5`,
    ]);
  });

  it('finds a changed balance and a missing one', async () => {
    await harm('update balances set available = available + 7 where profile_id = $1', [alice]);
    await harm('delete from balances where profile_id = $1', [bob]);
    expect((await auditLines(test.database)).sort()).toEqual(
      [
        `balance-equals-entries: available USD of profile ${alice} is stored as 5.07, its entries sum to 5`,
        `balance-equals-entries: available USD of profile ${bob} is stored as 0, its entries sum to 5`,
      ].sort(),
    );
  });

  it('finds a changed balance of the service, rolled up or not', async () => {
    await harm('update system_deltas set delta = delta - 5 where account = $1', ['clearing:test']);
    const line =
      'system-balance-equals-entries: account clearing:test USD is stored as -10.05, its entries sum to -10';
    expect(await auditLines(test.database)).toEqual([line]);
    await rollUpSystemBalances(test.database, 10);
    expect(await auditLines(test.database)).toEqual([line]);
    await harm('update system_balances set balance = balance + 5 where account = $1', ['clearing:test']);
    expect(await auditLines(test.database)).toEqual([]);
  });

  it('finds a pending withdrawal without a hold, and a hold without a withdrawal', async () => {
    const path = createTestWritePath(test.database);
    await path.submit(move([{ asset: 'USD', from: available(bob), to: held(bob), units: 5n }]));
    await test.database.transaction((tx) =>
      HOLDS.write(tx, [
        { id: newId(), profileId: alice, asset: 'USD', units: 250n, status: 'PENDING' },
        { id: newId(), profileId: alice, asset: 'USD', units: 999n, status: 'COMPLETED' },
        { id: newId(), profileId: alice, asset: 'ETH', units: 10n ** 17n, status: 'PENDING' },
      ]),
    );
    expect((await auditLines(test.database)).sort()).toEqual(
      [
        `held-equals-pending: profile ${alice} holds 0 ETH, its pending withdrawals need 0.1`,
        `held-equals-pending: profile ${alice} holds 0 USD, its pending withdrawals need 2.5`,
        `held-equals-pending: profile ${bob} holds 0.05 USD, its pending withdrawals need 0`,
      ].sort(),
    );
  });

  it('lists as many violations as the limit allows, and reports when there are more', async () => {
    const path = createTestWritePath(test.database);
    const profiles = Array.from({ length: LIMITS.auditViolationsMax - 2 }, newId);
    await Promise.all(profiles.map((profile) => path.submit(fund(profile, 'USD', 1n))));
    await test.database.query('update balances set available = available + 1');
    const full = await auditEverything(test.database, assets, ENTRY_CHECKS);
    expect(full.violations).toHaveLength(LIMITS.auditViolationsMax);
    expect(full.truncated).toBe(false);
    await path.submit(fund(newId(), 'USD', 1n));
    await test.database.query('update balances set available = available + 1');
    const more = await auditEverything(test.database, assets, ENTRY_CHECKS);
    expect(more.violations).toHaveLength(LIMITS.auditViolationsMax);
    expect(more.truncated).toBe(true);
  });

  it('prints raw units for an asset that is no longer configured', async () => {
    await harm("update balances set asset = 'GONE' where profile_id = $1", [bob]);
    expect(await auditLines(test.database)).toContain(
      `balance-equals-entries: available GONE of profile ${bob} is stored as 500, its entries sum to 0`,
    );
  });

  it('reports no violation while commands post and balances are rolled up', async () => {
    const path = createTestWritePath(test.database);
    const done = new AbortController();
    const writer = async (index: number): Promise<void> => {
      while (!done.signal.aborted) {
        const [from, to] = index % 2 === 0 ? [OUTSIDE, available(alice)] : [available(bob), OUTSIDE];
        await path.submit(move([{ asset: 'USD', from, to, units: 1n }])).catch(() => undefined);
        if (index === 0) await rollUpSystemBalances(test.database, 5);
      }
    };
    const writers = Array.from({ length: 8 }, (_, index) => writer(index));
    const found: unknown[] = [];
    let entries = 0n;
    const serving = connectUnlocked(test.servingAddress);
    try {
      // Audit at least twenty times, and until the writers have made progress.
      for (let count = 0; count < 20 || entries <= 50n; count += 1) {
        const report = await auditEverything(serving, assets, ENTRY_CHECKS);
        found.push(...report.violations);
        entries = report.entryCount;
      }
    } finally {
      done.abort();
      await Promise.all(writers);
      await serving.close();
    }
    expect(found).toEqual([]);
    expect(entries).toBeGreaterThan(50n);
  });
});
