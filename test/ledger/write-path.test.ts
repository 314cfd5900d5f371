import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workerActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { read, refuse, type Table } from '../../src/ledger/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assets, available, createTestWritePath, fund, move, OUTSIDE, pay } from '../support/ledger.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  expect((await auditEverything(test.database, assets, ENTRY_CHECKS)).violations).toEqual([]);
  await test.drop();
});

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

describe('the write path', () => {
  it('registers as a writer before it reads anything, also when it locks no balance', async () => {
    const path = createTestWritePath(test.database);
    const looked: unknown[] = [];
    const table: Table<string> = {
      name: 'looked at',
      async load(tx) {
        looked.push(...(await tx.query('select pg_current_xact_id_if_assigned() is not null as writes')));
        return new Map();
      },
    };
    const refused = new Problem('invalid-state', 'only looked');
    const look = path.submit({
      actor: workerActor('test'),
      balances: [],
      reads: [read(table, 'x')],
      decide: () => refuse(refused),
    });
    expect(await problemOf(look)).toBe(refused);
    expect(looked).toEqual([{ writes: true }]);
  });

  it('creates no balance row when it refuses a command', async () => {
    const path = createTestWritePath(test.database);
    const [alice, bob] = [newId(), newId()];
    await problemOf(path.submit(pay(alice, bob, 'USD', 1n)));
    const rows = await test.database.query('select from balances where profile_id = any ($1::uuid[])', [
      `{${alice},${bob}}`,
    ]);
    expect(rows).toEqual([]);
  });

  it('moves value between two profiles', async () => {
    const path = createTestWritePath(test.database);
    const [alice, bob] = [newId(), newId()];
    await path.submit(fund(alice, 'USD', 1000n));
    await path.submit(pay(alice, bob, 'USD', 300n));
    expect(await balancesOf(test.database, alice)).toEqual([{ asset: 'USD', available: 700n, held: 0n }]);
    expect(await balancesOf(test.database, bob)).toEqual([{ asset: 'USD', available: 300n, held: 0n }]);
  });

  it('refuses a payment that the balance does not cover, and reports the amounts', async () => {
    const path = createTestWritePath(test.database);
    const [alice, bob] = [newId(), newId()];
    await path.submit(fund(alice, 'USD', 1050n));
    const problem = await problemOf(path.submit(pay(alice, bob, 'USD', 2000n)));
    expect(problem.slug).toBe('insufficient-funds');
    expect(problem.meta).toEqual({ profile_id: alice, asset: 'USD', available: '10.5', needed: '20' });
    expect(await balancesOf(test.database, bob)).toEqual([]);
  });

  it('commits commands that wait together in one batch', async () => {
    const path = createTestWritePath(test.database);
    const profiles = Array.from({ length: 100 }, newId);
    await Promise.all(profiles.map((profile) => path.submit(fund(profile, 'USD', 1n))));
    expect(path.batches).toEqual([100]);
  });

  it('commits the others when one command throws', async () => {
    const path = createTestWritePath(test.database);
    const [alice, bob] = [newId(), newId()];
    const broken = {
      actor: workerActor('test'),
      balances: [],
      decide: (): never => {
        throw new Error('a fault in a rule');
      },
    };
    const results = await Promise.allSettled([
      path.submit(fund(alice, 'USD', 5n)),
      path.submit(broken),
      path.submit(fund(bob, 'USD', 6n)),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(path.batches).toEqual([3]);
    expect(path.troubles).toEqual(['bug']);
    expect((await balancesOf(test.database, bob))[0]?.available).toBe(6n);
  });

  it('settles a ring of payments that none could make alone, since credits are applied before debits', async () => {
    const path = createTestWritePath(test.database);
    const [a, b, c] = [newId(), newId(), newId()];
    const step = (from: string, to: string) => ({
      asset: 'USD',
      from: available(from),
      to: available(to),
      units: 7n,
    });
    await path.submit(move([step(a, b), step(b, c), step(c, a)]));
    expect((await balancesOf(test.database, a))[0]?.available).toBe(0n);
  });

  it('records the cause of each posting when one command has postings of several causes', async () => {
    const path = createTestWritePath(test.database);
    const [a, b] = [newId(), newId()];
    const [there, back] = [newId(), newId()];
    const step = (from: string, to: string, causeId: string) => ({
      asset: 'USD',
      from: available(from),
      to: available(to),
      units: 7n,
      causeId,
    });
    const outcome = await path.submit(
      move([step(a, b, there), step(b, a, back), step(a, b, there), step(b, a, back)]),
    );
    const rows = await test.database.query(
      'select cause_id, count(*) as entries, sum(delta)::numeric as sum from entries where owner_id = any (array[$1, $2]::uuid[]) group by cause_id order by cause_id',
      [a, b],
    );
    expect(rows).toEqual([there, back].sort().map((cause) => ({ cause_id: cause, entries: 4n, sum: 0n })));
    expect(outcome).toMatchObject({ replayed: false });
  });

  it.each([
    ['a number', 100],
    ['a fraction', 1.5],
    ['a string', '100'],
    ['negative', -1n],
    ['zero', 0n],
    ['larger than the ledger holds', 10n ** 38n],
  ])('refuses an amount that is %s before any SQL is written', async (_, units) => {
    const path = createTestWritePath(test.database);
    const alice = newId();
    const posting = { asset: 'USD', from: OUTSIDE, to: available(alice), units: units as bigint };
    expect((await problemOf(path.submit(move([posting])))).slug).toBe('invalid-request');
    expect(await balancesOf(test.database, alice)).toEqual([]);
    expect(path.troubles).toEqual([]);
  });
});
