import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Instant, NS_PER_SECOND } from '../../src/kernel/instant.ts';
import { balancesAt } from '../../src/ledger/balances.ts';
import type { Command } from '../../src/ledger/command.ts';
import { entriesAhead, repairInstants } from '../../src/ledger/repair.ts';
import { hearing } from '../support/barriers.ts';
import { createTestDatabase, liftGuards, type TestDatabase } from '../support/database.ts';
import {
  assets,
  auditLines,
  available,
  createTestWritePath,
  fund,
  move,
  optimistic,
  pay,
  problemOf,
  startNode,
  type TestNode,
} from '../support/ledger.ts';
import { connectUnlocked } from '../support/vault.ts';

const HOUR = 3_600n * NS_PER_SECOND;

let test: TestDatabase;
let node: TestNode;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  node = startNode(test.address);
});
afterEach(async () => {
  expect(await auditLines(test.database)).toEqual([]);
  await node.stop();
});

async function databaseTime(): Promise<Instant> {
  const [row] = await test.database.query<{ now_ns: Instant }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 as now_ns',
  );
  return row!.now_ns;
}

/** Stamps everything posted so far to and from these profiles as a clock that is ahead would have. */
async function stampAhead(byNs: bigint, ...profileIds: string[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    const ids = `{${profileIds.join(',')}}`;
    await liftGuards(tx);
    await tx.query(
      `update entries set at_ns = at_ns + $2::bigint
       where cause_id in (select cause_id from entries where owner_id = any ($1::uuid[]))`,
      [ids, byNs],
    );
    await tx.query(
      'update balances set moved_at_ns = moved_at_ns + $2::bigint where profile_id = any ($1::uuid[])',
      [ids, byNs],
    );
  });
}

type Times = { now: Instant; recordedAt: Instant };

/** The same command; it answers with the times that its rule got. */
function timed(command: Command<string>): Command<Times> {
  return {
    ...command,
    decide(view) {
      const decision = command.decide(view);
      const { now, recordedAt } = view;
      return decision.accepted ? { ...decision, answer: { now, recordedAt } } : decision;
    },
  };
}

async function timesOf(command: Command<string>): Promise<Times> {
  const outcome = await node.path.submit(timed(command));
  if (outcome.replayed) throw new Error('a replay has no times');
  return outcome.answer;
}

describe('a balance that is stamped an hour ahead', () => {
  it.each([
    ['pessimistic', (command: Command<string>) => command],
    ['optimistic', optimistic],
  ] as const)(
    'leaves rules and records (%s) at the time of the database, and entries in order',
    async (_, of) => {
      const [alice, bob] = [newId(), newId()];
      await node.path.submit(fund(alice, 'USD', 100n));
      await node.path.submit(fund(bob, 'USD', 100n));
      await stampAhead(HOUR, alice);
      const stamped = (await entriesAhead(test.database)).lastNs!;
      for (let round = 0; round < 3; round += 1) {
        const before = await databaseTime();
        const { now, recordedAt } = await timesOf(of(pay(alice, bob, 'USD', 1n)));
        const after = (await databaseTime()) + NS_PER_SECOND;
        // The optimistic lane uses the time of the last answer.
        expect(now).toBeGreaterThan(before - 60n * NS_PER_SECOND);
        expect(now).toBeLessThanOrEqual(after);
        expect(recordedAt).toBeLessThanOrEqual(after);
      }
      expect((await balancesAt(test.database, alice, stamped))[0]!.available).toBe(100n);
      expect((await balancesAt(test.database, alice, stamped + 3n))[0]!.available).toBe(97n);
      await repairInstants(test.database);
    },
  );

  it('is repaired together with all that followed it, without changing order, amounts or pairs', async () => {
    const [alice, bob, carol] = [newId(), newId(), newId()];
    for (const profile of [alice, bob, carol]) await node.path.submit(fund(profile, 'USD', 100n));
    await stampAhead(HOUR, alice);
    // Bob's entries, and fees, are after Alice's and so in the future; Carol's are not.
    await node.path.submit(pay(alice, bob, 'USD', 7n));
    await node.path.submit(
      move([
        { asset: 'USD', from: available(bob), to: { account: 'fees' }, units: 2n },
        { asset: 'USD', from: available(bob), to: available(alice), units: 1n },
      ]),
    );
    await node.path.submit(fund(carol, 'USD', 1n));
    const history = () =>
      test.database.query(
        `select owner_id, account, line, posting, cause_id, delta, balance_after from entries
         where owner_id = any ($1::uuid[]) order by owner_id, account, at_ns, line`,
        [`{${alice},${bob},${carol}}`],
      );
    const before = await history();
    const carolMoved = await test.database.query('select * from balances where profile_id = $1', [carol]);
    expect(await entriesAhead(test.database)).toMatchObject({ balanceCount: 2 });

    const { entryCount, balanceCount } = await repairInstants(test.database);
    expect([entryCount, balanceCount]).toEqual([8, 2]);
    expect(await history()).toEqual(before);
    expect(await auditLines(test.database)).toEqual([]);
    expect(await entriesAhead(test.database)).toMatchObject({ entryCount: 0, balanceCount: 0, lastNs: null });
    expect(await test.database.query('select * from balances where profile_id = $1', [carol])).toEqual(
      carolMoved,
    );
    const now = await databaseTime();
    expect((await balancesAt(test.database, bob, now))[0]!.available).toBe(104n);

    const { recordedAt } = await timesOf(pay(alice, bob, 'USD', 1n));
    expect((await balancesAt(test.database, bob, recordedAt))[0]!.available).toBe(105n);
    expect((await balancesAt(test.database, bob, recordedAt - 1n))[0]!.available).toBe(104n);
  });
});

describe('a balance that is stamped days ahead', () => {
  it('is refused instead of moving others ahead, and works again after the repair', async () => {
    const [alice, bob] = [newId(), newId()];
    for (const profile of [alice, bob]) await node.path.submit(fund(profile, 'USD', 100n));
    await stampAhead(48n * HOUR, alice);
    for (const command of [pay(alice, bob, 'USD', 1n), optimistic(pay(bob, alice, 'USD', 1n))]) {
      const problem = await problemOf(node.path.submit(command));
      expect([problem.status, problem.message]).toEqual([
        503,
        expect.stringMatching(/ferry repair-instants/),
      ]);
    }
    expect(await entriesAhead(test.database)).toMatchObject({ entryCount: 2, balanceCount: 1 });
    await node.path.submit(fund(bob, 'USD', 1n));
    await repairInstants(test.database);
    await node.path.submit(pay(alice, bob, 'USD', 1n));
    expect((await balancesAt(test.database, bob, await databaseTime()))[0]!.available).toBe(102n);
  });
});

it('a node that assumes a time an hour ahead writes nothing with that time', async () => {
  let skewNs = 0n;
  const database = connectUnlocked(test.address);
  const heard: string[] = [];
  const path = createTestWritePath(
    hearing(database, async (_text, rows) =>
      rows.map((row) => ('now_ns' in row ? { ...row, now_ns: (row.now_ns as bigint) + skewNs } : row)),
    ),
    assets,
    (what, error) => heard.push(`${what}: ${String(error)}`),
  );
  const [alice, bob] = [newId(), newId()];
  for (const profile of [alice, bob]) await path.submit(fund(profile, 'USD', 100n));
  // The optimistic lane gets a wrong time; the pessimistic lane does not.
  await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
  skewNs = HOUR;
  await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
  skewNs = 0n;
  await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
  expect(heard).toContainEqual(expect.stringMatching(/^stale-cache: .*the clock/));
  expect(await entriesAhead(test.database)).toMatchObject({ entryCount: 0, balanceCount: 0 });
  await path.stop();
  await database.close();
});
