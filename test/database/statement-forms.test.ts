import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database, Parameter, Queryable, Statement } from '../../src/database/database.ts';
import { readViews } from '../../src/database/pool.ts';
import type { Views } from '../../src/database/queryable.ts';
import { newId } from '../../src/kernel/id.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { auditIncrement } from '../../src/ledger/audit-increments.ts';
import { lockBalances, lockedBalances } from '../../src/ledger/balance-rows.ts';
import { entriesOf, systemEntriesOf } from '../../src/ledger/entries.ts';
import { usedKeys } from '../../src/ledger/store.ts';
import { listTransfers } from '../../src/transfers/list-store.ts';
import { changedTransfers } from '../../src/transfers/store.ts';
import { forgeries } from '../ledger/forgeries.ts';
import { type History, makeHistory } from '../ledger/forgery-world.ts';
import { createTestDatabase, describeOnOneServer, type TestDatabase } from '../support/database.ts';
import { BIG, loadHistory } from '../support/history.ts';
import { assets } from '../support/ledger.ts';
import { createWorld, type World } from '../support/payouts.ts';
import { pagesOf } from '../support/plans.ts';
import { transferReads } from '../support/transfer-reads.ts';

/**
 * Statements that have a form of their own for a cluster. One server can execute both forms, so they are compared wherever the tests run.
 * What only a cluster has is left out.
 */
const ONLY_ON_A_CLUSTER = /run_command_on_workers|"isOneSnapshot"|select true as is\b/;

type Compared = Queryable & { readonly compared: { readonly rows: number }[] };

/** Executes both forms, and expects the same rows, in any order. */
function inBothForms(tx: Queryable, views: Views): Compared {
  const compared: { rows: number }[] = [];
  const text = (row: object): string =>
    JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  return {
    vault: tx.vault,
    compared,
    async query<Row extends object>(statement: Statement, parameters: readonly Parameter[] = []) {
      if (typeof statement === 'string') return tx.query<Row>(statement, parameters);
      const { plain, distributed } = statement;
      const other = typeof distributed === 'string' ? distributed : distributed(views);
      const rows = await tx.query<Row>(plain, parameters);
      if (ONLY_ON_A_CLUSTER.test(other)) return rows;
      const others = await tx.query<Row>(other, parameters);
      expect(others.map(text).sort()).toEqual(rows.map(text).sort());
      compared.push({ rows: rows.length });
      return rows;
    },
  };
}

const viewsOf = (database: Database): Promise<Views> => readViews((text) => database.query(text));

const UNDONE = new Error('undone');

/** All statements in one transaction, which is rolled back. */
async function compare(
  database: Database,
  work: (both: Compared, inside: Database) => Promise<void>,
): Promise<Compared['compared']> {
  const views = await viewsOf(database);
  let compared: Compared['compared'] = [];
  const undone = database.transaction(async (tx) => {
    const both = inBothForms(tx, views);
    ({ compared } = both);
    const inside: Database = {
      ...database,
      query: both.query,
      snapshot: (nested) => nested({ ...tx, query: both.query }),
      reserve: async () => ({ ...tx, query: both.query, discard: () => undefined }) as never,
    };
    await work(both, inside);
    throw UNDONE;
  });
  await expect(undone).rejects.toBe(UNDONE);
  return compared;
}

describeOnOneServer('pages of lists', () => {
  const ROWS = 2_000;
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await loadHistory(test.database, { transfers: ROWS });
  });
  afterAll(() => test.drop());

  it('of transfers, by every filter', async () => {
    const compared = await compare(test.database, async (both) => {
      for (const [, filters] of transferReads(ROWS))
        for (const page of pagesOf(['created_at', 'updated_at'], ROWS))
          await listTransfers(both, BIG, filters, page);
    });
    expect(compared.filter(({ rows }) => rows > 100).length).toBeGreaterThan(20);
  });

  it('and transfers that are locked to be changed', async () => {
    const rows = await test.database.query<{ id: string }>('select id from transfers order by id limit 3');
    const ids = rows.map(({ id }) => id);
    const compared = await compare(test.database, async (both) => {
      await changedTransfers.load!(both as never, ids);
    });
    expect(compared).toEqual([{ rows: 3 }]);
  });
});

describeOnOneServer('in a history with records of all kinds', () => {
  let world: World;
  let made: History;
  beforeAll(async () => {
    world = await createWorld();
    const node = world.createNode();
    made = await makeHistory(world, node);
  });
  afterAll(async () => {
    await world.close();
    await world.remove();
  });

  it('entries, keys and balances', async () => {
    const [page] = pagesOf(['created_at'], 10);
    const key = { customerId: world.caller.customerId, space: 'x', refId: 'x', resourceId: newId() };
    const compared = await compare(world.database, async (both) => {
      await entriesOf(both, made.ada, 'USD', ['available', 'held'], page!);
      await systemEntriesOf(both, 'clearing:wire', 'USD', page!);
      const locked = [
        { profileId: made.ada, asset: 'USD' },
        { profileId: made.bob, asset: 'USD' },
      ];
      await lockBalances(both as never, locked);
      expect((await lockedBalances(both, locked)).size).toBe(2);
      await usedKeys(both, new Map([['x', key as never]]));
      const [used] = await both.query<{ customer_id: string; space: string; ref_id: string }>(
        'select customer_id, space, ref_id from idempotency_keys limit 1',
      );
      const { customer_id: customerId, space, ref_id: refId } = used!;
      await usedKeys(both, new Map([['y', { ...key, customerId, space, refId } as never]]));
    });
    expect(compared.map(({ rows }) => rows > 0)).toEqual([
      true,
      expect.any(Boolean),
      true,
      true,
      false,
      true,
    ]);
  });

  it('the audit, also of a history that was forged in every way', async () => {
    const sound = await compare(world.database, async (_, inside) => {
      expect((await auditEverything(inside, assets)).violations).toEqual([]);
      await auditIncrement(inside, assets, { thorough: true, wait: true, lagMs: 0 });
    });
    expect(sound.length).toBeGreaterThan(5);
    const forged = await compare(world.database, async (both, inside) => {
      await both.query('set local session_replication_role = replica');
      let applied = 0;
      for (const { sql } of forgeries(made)) {
        await both.query('savepoint forged');
        try {
          for (const statement of sql) await both.query(statement);
          applied += 1;
        } catch {
          // Some cannot be combined with an earlier one.
          await both.query('rollback to savepoint forged');
        }
      }
      expect(applied).toBeGreaterThan(20);
      await auditEverything(inside, assets);
      await auditIncrement(inside, assets, { thorough: true, wait: true, lagMs: 0 });
    });
    expect(forged.filter(({ rows }) => rows > 0).length).toBeGreaterThan(3);
  });
});
