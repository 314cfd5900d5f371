import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockOf } from '../../src/database/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { installationFault } from '../../src/database/installation.ts';
import { newId } from '../../src/kernel/id.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import type { Violation } from '../../src/ledger/audit-checks.ts';
import { auditIncrement, type IncrementalReport } from '../../src/ledger/audit-increments.ts';
import { rollUpSystemBalances } from '../../src/ledger/balances.ts';
import { createTestDatabase, ON_CLUSTER, unguarded, untilAuditable } from '../support/database.ts';
import { openingBalance } from '../support/funding.ts';
import { assets, createTestWritePath } from '../support/ledger.ts';
import { createWorld, type World } from '../support/payouts.ts';
import { IS_LONG } from '../support/rounds.ts';
import { CLOCK, type Forgery, forgeries, minted } from './forgeries.ts';
import { type History, makeHistory } from './forgery-world.ts';

/** A history before a checkpoint, and one after it. Each test works on a copy of the database. */
let world: World;
let old: History;
let recent: History;

const increment = async (database: Database, lagMs?: number): Promise<IncrementalReport> =>
  (await auditIncrement(database, assets, {
    thorough: true,
    wait: true,
    ...(lagMs !== undefined && { lagMs }),
  }))!;

beforeAll(async () => {
  world = await createWorld();
  const node = world.createNode();
  await installationFault(world.database, 'production', assets);
  old = await makeHistory(world, node);
  expect((await increment(world.database, 0)).violations).toEqual([]);
  recent = await makeHistory(world, node);
  while ((await rollUpSystemBalances(world.database, 100)) > 0);
  await world.close();
});
afterAll(() => world.remove());

/** The ids are only known later; the titles do not depend on them. */
const TITLES = forgeries(new Proxy({} as History, { get: newId })).map(({ title }) => title);

async function onCopy<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const copied = await createTestDatabase(world.name);
  try {
    return await work(copied.database);
  } finally {
    await copied.drop();
  }
}

async function forge(database: Database, sql: readonly string[]): Promise<void> {
  const now = String(await clockOf(database));
  for (const statement of sql) await unguarded(database).query(statement.replaceAll(CLOCK, now));
  await untilAuditable();
}

const ROLLED_BACK = new Error('rolled back');

/**
 * The forgery and the audits in one transaction, which is rolled back: the next forgery finds the history as it was made. That takes
 * less than half of the time of a copy for each. On a cluster, audits ask the servers on connections of their own.
 */
async function rolledBack(database: Database, work: (inside: Database) => Promise<void>): Promise<void> {
  if (ON_CLUSTER) return onCopy(work);
  const rolled = database.transaction(async (tx) => {
    const discard = (): void => void tx.query('select pg_advisory_unlock_all()').catch(() => undefined);
    const inside: Database = {
      ...database,
      query: tx.query,
      transaction: (nested) => nested(tx),
      snapshot: (nested) => nested(tx),
      reserve: async () => ({ ...tx, discard }) as never,
    };
    await work(inside);
    throw ROLLED_BACK;
  });
  await expect(rolled).rejects.toBe(ROLLED_BACK);
}

const naming = ({ rule, row }: Pick<Forgery, 'rule' | 'row'>) =>
  expect.arrayContaining([{ rule, line: expect.stringContaining(row) }]) as Violation[];

it('a database that only the service has changed is sound, from the beginning and from a checkpoint', async () => {
  await untilAuditable();
  await onCopy(async (database) => {
    const full = await auditEverything(database, assets);
    expect(full.violations).toEqual([]);
    const report = await increment(database);
    expect(report.violations).toEqual([]);
    expect(report.continuedFrom?.number).toBeGreaterThan(0n);
    expect(report.newCount).toBeGreaterThan(20n);
    expect(report.newCount).toBeLessThan(report.entryCount);
    expect({ ...full, continuedFrom: undefined, newCount: 0n }).toEqual({
      ...report,
      continuedFrom: undefined,
      newCount: 0n,
    });
  });
});

describe('the audit finds, and names the row:', () => {
  let copied: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    copied = await createTestDatabase(world.name);
  });
  afterAll(() => copied.drop());

  it.each(TITLES)('%s', (title) =>
    rolledBack(copied.database, async (database) => {
      const forged = forgeries(recent).find((one) => one.title === title)!;
      await forge(database, forged.sql);
      // An audit takes most of the time. In a quick run the two take turns.
      const isFirst = TITLES.indexOf(title) % 2 === 0;
      if (IS_LONG || isFirst) expect((await increment(database)).violations).toEqual(naming(forged));
      if (IS_LONG || !isFirst)
        expect((await auditEverything(database, assets)).violations).toEqual(naming(forged));
    }),
  );

  it('and nothing, when every forgery was rolled back', async () => {
    expect((await auditEverything(copied.database, assets)).violations).toEqual([]);
  });
});

describe('among rows that were audited before', () => {
  it('an increment finds money that was made with a time in the past', () =>
    onCopy(async (database) => {
      const [cause, profile] = [newId(), newId()];
      const [first] = await database.query<{ at: bigint }>('select min(at_ns) as at from entries');
      await forge(database, minted(profile, cause, String(first!.at + 1n)));
      const row = { rule: 'cause-equals-entries', row: cause };
      expect((await increment(database)).violations).toEqual(naming(row));
    }));

  it('the whole proof finds an entry that was removed, and that the checkpoint differs', () =>
    onCopy(async (database) => {
      await forge(database, [`delete from entries where cause_id = '${old.funding}'`]);
      const row = { rule: 'system-balance-equals-entries', row: 'treasury USD' };
      const { violations } = await auditEverything(database, assets);
      expect(violations).toEqual(naming(row));
      expect(violations).toEqual(naming({ rule: 'checkpoint-equals-entries', row: 'treasury USD' }));
    }));

  it('an increment finds a changed balance', () =>
    onCopy(async (database) => {
      await forge(database, [
        `update balances set available = available + 1 where profile_id = '${old.bob}'`,
      ]);
      const row = { rule: 'balance-equals-entries', row: old.bob };
      expect((await increment(database)).violations).toEqual(naming(row));
    }));
});

describe('a checkpoint', () => {
  const cases: [string, string, RegExp][] = [
    ['with other totals', `update audit_checkpoints set totals = '[]'`, /checkpoint 1 .* was changed/],
    [
      'that covers more',
      'update audit_checkpoints set until_ns = until_ns + 1',
      /checkpoint 1 .* was changed/,
    ],
    [
      'that the service did not make',
      `insert into audit_checkpoints select number + 1, until_ns, heap, place, entries, totals, swept_to, made_at_ns, signature
       from audit_checkpoints order by number desc limit 1`,
      /checkpoint 2 .* was changed, or not made by this service/,
    ],
  ];
  it.each(cases)('%s is found, and not continued from', (_, sql, line) =>
    onCopy(async (database) => {
      await forge(database, [sql]);
      const violation = { rule: 'checkpoint-is-signed', line: expect.stringMatching(line) };
      const report = await increment(database);
      expect(report.violations).toEqual([violation]);
      expect(report.continuedFrom).toBeUndefined();
      expect((await auditEverything(database, assets)).violations).toContainEqual(violation);
    }),
  );

  it('that was removed is missed', () =>
    onCopy(async (database) => {
      const path = createTestWritePath(database);
      for (let count = 0; count < 3; count += 1) {
        await path.submit(openingBalance(recent.ada, 'USD', 1n));
        expect((await increment(database, 0)).violations).toEqual([]);
      }
      await path.stop();
      const [row] = await database.query<{ last: bigint }>(
        'select max(number) as last from audit_checkpoints',
      );
      expect(row!.last).toBe(4n);
      await forge(database, ['delete from audit_checkpoints where number = 3']);
      const missing = { rule: 'checkpoint-is-signed', line: 'audit checkpoint 3 is missing' };
      expect((await increment(database)).violations).toContainEqual(missing);
      expect((await auditEverything(database, assets)).violations).toContainEqual(missing);
    }));
});
