import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DatabaseAddress } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { type Command, read, type Table, write } from '../../src/ledger/command.ts';
import { createWritePath } from '../../src/ledger/write-path.ts';
import { hearing } from '../support/barriers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  assets,
  auditLines,
  createTestWritePath,
  fund,
  optimistic,
  pay,
  startNode,
  type TestNode,
  withKey,
} from '../support/ledger.ts';
import { until } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

let test: TestDatabase;
let proxy: FaultyProxy;
let node: TestNode;
let other: TestNode;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  proxy = await startProxy(test.address as Extract<DatabaseAddress, { socketDir: string }>);
  node = startNode(proxy.address);
  other = startNode(test.address);
});
afterEach(async () => {
  await Promise.all([node.stop(), other.stop()]);
  expect(await auditLines(test.database)).toEqual([]);
  await proxy.close();
});

async function funded(count: number): Promise<string[]> {
  const profiles = Array.from({ length: count }, newId);
  for (const profile of profiles) await node.path.submit(fund(profile, 'USD', 100n));
  return profiles;
}

const availableOf = async (profileId: string): Promise<bigint> =>
  (await balancesOf(test.database, profileId))[0]!.available;

/** A command with a row that the driver cannot send. */
function unsendable(plain: Command<string>): Command<string> {
  const table: Table<string> = {
    name: 'unsendable',
    sendsAtOnce: true,
    write: () => {
      throw new TypeError('cannot be sent');
    },
  };
  return {
    ...plain,
    decide: (view) => ({ ...plain.decide(view), writes: [write(table, 'x', 'x')] }) as never,
  };
}

describe('a node', () => {
  it.each(['pessimistic', 'optimistic'])(
    'executes other commands while a commit (%s) is in doubt',
    async (kind) => {
      const [alice, bob, carol, dave] = (await funded(4)) as [string, string, string, string];
      await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
      const { promise: sent, resolve: send } = Promise.withResolvers<void>();
      proxy.failNextCommit({ kind: 'late', sent });
      const plain = pay(alice, bob, 'USD', 1n);
      let isKnown = false;
      const doubtful = node.path.submit(kind === 'optimistic' ? optimistic(plain) : plain).finally(() => {
        isKnown = true;
      });
      await until('the commit was cut off', () => proxy.failed > 0);
      await node.path.submit(pay(carol, dave, 'USD', 1n));
      expect(isKnown).toBe(false);
      send();
      await doubtful;
      expect(await availableOf(alice)).toBe(98n);
    },
  );

  it('does not execute a committed batch again because it cannot be cached', async () => {
    const [alice, bob] = (await funded(2)) as [string, string];
    const odd: Table<string> = {
      name: 'odd',
      load: async () => new Map([['x', 'y']]),
      canCache: () => {
        throw new Error('cannot be cached');
      },
    };
    await Promise.all([
      node.path.submit({ ...fund(alice, 'USD', 10n), reads: [read(odd, 'x')] }),
      node.path.submit(fund(bob, 'USD', 10n)),
    ]);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([110n, 110n]);
    expect(node.path.troubles).toEqual(['bug']);
  });

  it('keeps a connection whose flight failed both on the node and on the server', async () => {
    const [alice, bob, carol, dave] = (await funded(4)) as [string, string, string, string];
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    await other.path.submit(pay(alice, bob, 'USD', 1n));
    const first = node.path.submit(optimistic(pay(carol, dave, 'USD', 2n)));
    await new Promise(setImmediate);
    const results = await Promise.allSettled([
      first,
      node.path.submit(optimistic(pay(alice, bob, 'USD', 2n))),
      node.path.submit(optimistic(unsendable(pay(alice, bob, 'USD', 1n)))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(node.path.troubles).not.toContain('in-doubt');
  });

  it('survives an observer that throws', async () => {
    const troubles: string[] = [];
    let isArmed = false;
    const path = createWritePath({
      database: test.database,
      assets,
      observer: {
        batch: () => undefined,
        queue: () => undefined,
        trouble: (what) => troubles.push(what),
        committed() {
          if (isArmed) throw new Error('fails');
        },
      },
    });
    const [alice, bob] = [newId(), newId()];
    for (const profile of [alice, bob]) await path.submit(fund(profile, 'USD', 10n));
    isArmed = true;
    await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    await path.submit(pay(alice, bob, 'USD', 1n));
    await path.stop();
    expect(troubles).toEqual(['bug', 'bug']);
  });

  it('accepts commands with idempotency keys after a newer node has added a column to their table', async () => {
    const [alice] = (await funded(1)) as [string];
    const keyed = (refId: string) => withKey(fund(alice, 'USD', 1n), { customerId: newId(), refId });
    await node.path.submit(keyed('before'));
    await test.database.query('alter table idempotency_keys add column note text');
    await node.path.submit(keyed('after'));
    await test.database.query('alter table idempotency_keys drop column note');
    expect(await availableOf(alice)).toBe(102n);
  });

  it('that read a wrong time once does not keep it, and the entries of a balance with that time stay in order', async () => {
    let skewNs = 0n;
    const database = connectUnlocked(test.address);
    const path = createTestWritePath(
      hearing(database, async (_text, rows) =>
        rows.map((row) => ('now_ns' in row ? { ...row, now_ns: (row.now_ns as bigint) + skewNs } : row)),
      ),
    );
    const instantOf = async (profileId: string): Promise<bigint> => {
      await path.submit(fund(profileId, 'USD', 1n));
      const [row] = await test.database.query<{ moved_at_ns: bigint }>(
        'select moved_at_ns from balances where profile_id = $1',
        [profileId],
      );
      return row!.moved_at_ns;
    };
    const [alice, bob] = [newId(), newId()];
    const before = await instantOf(alice);
    const hour = 3_600_000_000_000n;
    skewNs = hour;
    const wrong = await instantOf(alice);
    expect(wrong - before).toBeGreaterThan(hour - 1n);
    skewNs = 0n;
    expect((await instantOf(bob)) - before).toBeLessThan(hour / 2n);
    // Entries of one balance stay in order.
    expect(await instantOf(alice)).toBe(wrong + 1n);
    await path.stop();
    await database.close();
  });
});
