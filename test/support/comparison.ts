import { afterAll, beforeAll, expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { until } from './until.ts';

/** Written by background work: the ledger's, deliveries, sealing, and the feed, which orders earlier events. */
const NOT_COMPARED = [
  'system_balances',
  'reconciled_accounts',
  'reconciliation_items',
  'reconciliation_references',
  'reconciliation_matches',
  'system_deltas',
  'event_sequence',
  'event_marks',
  'sealing_progress',
  'webhook_progress',
  'webhook_deliveries',
];

/** Groups of events get their positions later; their events exist from the start. */
const rowText = (name: string): string =>
  name === 'event_groups' ? `(to_jsonb(t) - 'position')::text` : 't::text';

/** Refused attempts at privileged actions are recorded, in groups without events. */
const WITH_EVENTS = ' where lines > 0';

export type Comparison = {
  /**
   * For a group of tests whose requests are all refused: what they refer to is prepared first, so one comparison shows that none of
   * them changes anything. A comparison for each test takes most of the time of the tests.
   */
  expectNothingChangedByTests(prepare?: () => Promise<unknown>): void;
  /** Checks that the work adds, changes and removes no row of any table. */
  expectNothingChanged<Result>(work: () => Promise<Result>): Promise<Result>;
};

/** Compares every row of every table before and after some work. */
export async function createComparison(database: Database): Promise<Comparison> {
  const known = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const tables = known.map(({ name }) => name).filter((name) => !NOT_COMPARED.includes(name));

  /** Every row of every table, as one hash for each table. */
  async function everything(): Promise<Record<string, string>> {
    // The personal data of a deleted account is erased from earlier events in the background.
    const erasures = (): Promise<unknown[]> => database.query('select from event_erasures');
    await until('nothing is left to erase', async () => (await erasures()).length === 0);
    const rows = await database.query<{ name: string; content: string }>(
      tables
        .map(
          (name) =>
            `select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(row, '|' order by row), '')) as content
             from (select ${rowText(name)} as row from ${name} t${name === 'event_groups' ? WITH_EVENTS : ''}) as rows`,
        )
        .join(' union all '),
    );
    return Object.fromEntries(rows.map(({ name, content }) => [name, content]));
  }

  async function begin(): Promise<() => Promise<void>> {
    const before = await everything();
    return async () => expect(await everything()).toEqual(before);
  }

  return {
    expectNothingChangedByTests(prepare) {
      let check: () => Promise<void>;
      beforeAll(async () => {
        await prepare?.();
        check = await begin();
      });
      afterAll(() => check());
    },
    async expectNothingChanged(work) {
      const check = await begin();
      const result = await work();
      await check();
      return result;
    },
  };
}
