import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Parameter, Queryable } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import * as store from '../../src/settlement/engine-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** 60,000 transactions of 100 pairs of profiles, none of them due; 20,000 not affirmed, 10,000 waiting, 10,000 to open. */
let test: TestDatabase;
const PROFILE = '00000000-0000-0000-0000-000000000006';
beforeAll(async () => {
  test = await createTestDatabase();
  // In parts: one statement for all takes longer than the limit on statements if the machine is busy.
  for (let first = 0; first < 60_000; first += 5_000)
    await test.database.query(
      `insert into settlement_transactions
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), n::text,
         ('00000000-0000-0000-0000-' || lpad((n % 100)::text, 12, '0'))::uuid,
         ('00000000-0000-0000-0001-' || lpad((n % 100)::text, 12, '0'))::uuid,
         9000000000000000000, 9000000000000000100 + n,
         case n % 3 when 0 then 'AFFIRMED' when 1 then 'PENDING' else 'SETTLED' end,
         case when n % 2 = 0 then '{"name": "AWAITING_FUNDS", "detail": ""}'::jsonb end,
         '[{"asset": "USD", "units": "1"}]'::jsonb, n, n
       from generate_series($1::integer + 1, $1::integer + 5000) n`,
      [first],
    );
  await test.database.query('analyze settlement_transactions');
});
afterAll(() => test.drop());

const key = { profileId: PROFILE, asset: 'USD' };
const looks: readonly [string, (database: Queryable) => Promise<unknown>][] = [
  ['the next start and end', (database) => store.nextDue(database)],
  ['windows that have opened', (database) => store.openedSettlements(database, [], 50)],
  ['windows that have ended', (database) => store.endedSettlements(database, [], 50)],
  ['transactions by id', (database) => store.openSettlements(database, [newId(), newId()])],
  ['those around a profile', (database) => store.waitingAround(database, [PROFILE], 50)],
  ['those that wait for a balance', (database) => store.waitingFor(database, key, undefined, 50)],
];

it.each(looks)(
  'looking for %s reads a page of an index, however many transactions there are',
  async (_title, look) => {
    const plans: string[] = [];
    const explaining: Queryable = {
      ...test.database,
      async query<Row extends object>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
        const rows = await test.database.query<{ 'QUERY PLAN': string }>(
          `explain (analyze, buffers, costs off, timing off) ${text}`,
          parameters,
        );
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return test.database.query<Row>(text, parameters);
      },
    };
    await look(explaining);
    expect(plans).toHaveLength(1);
    const [plan] = plans;
    expect(plan).not.toMatch(/Seq Scan on settlement_transactions/);
    const read = [...plan!.matchAll(/rows=([\d.]+)|Rows Removed by Filter: (\d+)/g)].map((match) =>
      Number(match[1] ?? match[2]),
    );
    expect(Math.max(...read), plan).toBeLessThanOrEqual(101);
  },
);
