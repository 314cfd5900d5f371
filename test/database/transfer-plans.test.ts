import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page, Place } from '../../src/kernel/paging.ts';
import { LIMITS } from '../../src/limits.ts';
import { listTransfers, type TransferFilters } from '../../src/transfers/list-store.ts';
import { findTransfer } from '../../src/transfers/store.ts';
import { createTestDatabase, describeOnOneServer, type TestDatabase } from '../support/database.ts';
import { BIG, COMMON, historyId, loadHistory, RARE, START_NS, STEP_NS } from '../support/history.ts';
import { type Bounds, createPlanCheck, PAGE_LIMIT, pagesOf, SHOWN } from '../support/plans.ts';
import { transferReads } from '../support/transfer-reads.ts';

/** Enough that a full scan would be noticed: `npm run bench:reads` shows the same with ten million. */
const ROWS = 100_000;

let test: TestDatabase;
let plans: Awaited<ReturnType<typeof createPlanCheck>>;
beforeAll(async () => {
  test = await createTestDatabase();
  await loadHistory(test.database, { transfers: ROWS });
  plans = await createPlanCheck(test.database);
});
afterAll(async () => {
  plans.stop();
  await test.drop();
});

describeOnOneServer('a page of transfers reads little more than it shows', () => {
  it.each(transferReads(ROWS))('%s', async (_title, filters) => {
    for (const page of pagesOf(['created_at', 'updated_at'], ROWS)) {
      const faults = await plans.faultsIn((database) => listTransfers(database, BIG, filters, page), SHOWN);
      expect(faults).toEqual([]);
    }
  });

  it('and one transfer is one index lookup', async () => {
    const look = historyId('transfer', 7);
    expect(
      await plans.faultsIn((database) => findTransfer(database, BIG, look), { rows: 1, blocks: 5 }),
    ).toEqual([]);
  });
});

describeOnOneServer('combined filters that no index covers', () => {
  const scanned: Bounds = { rows: 1.2 * LIMITS.listScanMax, blocks: 2 * LIMITS.listScanMax };
  const profile = historyId('profile', COMMON);
  const late = START_NS + BigInt(ROWS * 0.395) * STEP_NS;
  const cases: [string, TransferFilters, Page['ranges'], string][] = [
    [
      'a profile with most transfers and a rare type',
      { profile_ids: [profile, historyId('profile', RARE)], type: ['CUBIX_DEPOSIT'] },
      [],
      `type = 'CUBIX_DEPOSIT'`,
    ],
    [
      'a type, and a time that the list is not ordered by',
      { type: ['CRYPTO_WITHDRAWAL'] },
      [{ column: 'updated_at', operator: '>', ns: late }],
      `type = 'CRYPTO_WITHDRAWAL' and updated_at_ns > ${late}`,
    ],
  ];

  it.each([
    ['updated_at', 'created_at', true],
    ['created_at', 'updated_at', false],
  ] as const)(
    'between two times by %s, a list by %s is read only within the possible range',
    async (column, orderBy, descending) => {
      const ranges = [
        { column, operator: '>=', ns: START_NS + BigInt(ROWS * 0.1) * STEP_NS },
        { column, operator: '<', ns: START_NS + BigInt(ROWS * 0.2) * STEP_NS },
      ];
      const page: Page = { limit: PAGE_LIMIT, orderBy, descending, after: undefined, ranges };
      const few = { rows: 30 * PAGE_LIMIT, blocks: 30 * PAGE_LIMIT };
      expect(await plans.faultsIn((database) => listTransfers(database, BIG, {}, page), few)).toEqual([]);
    },
  );

  /** All pages, and how many there were. */
  async function walk(filters: TransferFilters, first: Page): Promise<{ ids: string[]; pages: number }> {
    const ids: string[] = [];
    let after: Place | undefined;
    for (let pages = 1; ; pages += 1) {
      const { rows, brokenOffAt } = await listTransfers(test.database, BIG, filters, { ...first, after });
      const shown = rows.slice(0, first.limit);
      ids.push(...shown.map((row) => row.id));
      const last = shown.at(-1);
      after = rows.length > first.limit ? { ns: last!.createdAtNs, id: last!.id } : brokenOffAt;
      if (after === undefined) return { ids, pages };
    }
  }

  it.each(cases)(
    '%s: a page scans a bounded number of rows, and the pages together have all of them',
    async (_title, filters, ranges, condition) => {
      const expected = await test.database.query<{ id: string }>(
        `select id from transfers where customer_id = $1 and ${condition} order by created_at_ns, id`,
        [BIG],
      );
      expect(expected.length).toBeGreaterThan(0);
      for (const descending of [true, false]) {
        const page: Page = { limit: PAGE_LIMIT, orderBy: 'created_at', descending, after: undefined, ranges };
        expect(
          await plans.faultsIn((database) => listTransfers(database, BIG, filters, page), scanned),
        ).toEqual([]);
        const { ids, pages } = await walk(filters, page);
        expect(descending ? ids.reverse() : ids).toEqual(expected.map((row) => row.id));
        // Some pages were short or empty.
        expect(pages).toBeGreaterThan(Math.ceil(expected.length / PAGE_LIMIT));
      }
    },
  );
});

describeOnOneServer('the check itself', () => {
  const flagged = async (statement: string, bounds: Bounds = SHOWN): Promise<string> =>
    (await plans.faultsIn((database) => database.query(statement, [BIG]), bounds)).join('\n');

  it('notices a sequential scan', async () => {
    const statement = 'select id from transfers where customer_id <> $1 order by memo limit 100';
    expect(await flagged(statement)).toMatch(/custom plan reads all of transfers/);
  });

  const WALK = `select id from transfers where customer_id = $1 and type = 'PLATFORM_TRANSFER_DEBIT'
    and memo is not null order by created_at_ns, id limit 100`;

  it('notices a scan of an index that skips most of its entries', async () => {
    expect(await flagged(WALK)).toMatch(/custom plan reads \d+ rows, not 505/);
  });

  it('counts blocks too, because skipped index entries do not count as rows', async () => {
    expect(await flagged(WALK, { rows: ROWS, blocks: 1_010 })).toMatch(
      /^custom plan reads \d+ blocks, not 1010/,
    );
  });

  it('notices a sort of more rows than the page has', async () => {
    const statement = `select id from transfers where customer_id = $1 and group_id is null and status = 'COMPLETED'
      order by amount_units limit 100`;
    expect(await flagged(statement)).toMatch(/generic plan sorts \d+ rows/);
  });
});
