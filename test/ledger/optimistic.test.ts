import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { type Command, read, refuse, type Table, write } from '../../src/ledger/command.ts';
import { LIMITS } from '../../src/limits.ts';
import { profileTable } from '../../src/profiles/store.ts';
import { hearing, pidOf, untilBlockedBy } from '../support/barriers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  auditLines,
  createTestWritePath,
  fund,
  optimistic,
  pay,
  problemOf,
  startNode,
  type TestNode,
  withKey,
} from '../support/ledger.ts';
import { connectUnlocked } from '../support/vault.ts';

let test: TestDatabase;
let node: TestNode;
let other: TestNode;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => {
  node = startNode(test.address);
  other = startNode(test.address);
  return async () => {
    expect(await auditLines(test.database)).toEqual([]);
    await Promise.all([node.stop(), other.stop()]);
  };
});
afterAll(() => test.drop());

async function availableOf(profileId: string): Promise<bigint> {
  return (await balancesOf(test.database, profileId))[0]?.available ?? 0n;
}

/** Two profiles whose balances the node has cached. */
async function remembered(units: bigint): Promise<[alice: string, bob: string]> {
  const profiles: [string, string] = [newId(), newId()];
  for (const profile of profiles) await node.path.submit(fund(profile, 'USD', units));
  return profiles;
}

describe('a command of the optimistic lane', () => {
  it('is committed without a read when the cache is right', async () => {
    const [alice, bob] = await remembered(10n);
    for (let count = 0; count < 5; count += 1) await node.path.submit(optimistic(pay(alice, bob, 'USD', 2n)));
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([0n, 20n]);
    const { message } = await problemOf(node.path.submit(optimistic(pay(alice, bob, 'USD', 2n))));
    expect(message).toContain('has 0 USD available');
    expect(node.path.troubles).toEqual([]);
  });

  it('is decided again when another node has changed the balance', async () => {
    const [alice, bob] = await remembered(10n);
    await other.path.submit(pay(alice, bob, 'USD', 4n));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 5n)));
    expect(node.path.troubles).toEqual(['stale-cache']);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([1n, 19n]);
  });

  it('is not refused from the cache', async () => {
    const [alice, bob] = await remembered(10n);
    await other.path.submit(fund(alice, 'USD', 90n));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 100n)));
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([0n, 110n]);
    expect(node.path.troubles).toEqual([]);
  });

  it('is refused when another node has spent the cached balance', async () => {
    const [alice, bob] = await remembered(10n);
    await other.path.submit(pay(alice, bob, 'USD', 8n));
    const { slug, meta } = await problemOf(node.path.submit(optimistic(pay(alice, bob, 'USD', 5n))));
    expect(slug).toBe('insufficient-funds');
    expect(meta).toMatchObject({ available: '0.02', needed: '0.05' });
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([2n, 18n]);
  });

  it('waits while writes are held for a snapshot of all servers', async () => {
    const [alice, bob] = await remembered(10n);
    let paid: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await tx.query('select hold_writes()');
      paid = node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
      await untilBlockedBy(test.database, await pidOf(tx));
      expect(await availableOf(bob)).toBe(10n);
    });
    await paid;
    expect(await availableOf(bob)).toBe(11n);
    expect(node.path.troubles).toEqual([]);
  });

  it('is a replay when its key was used: on this node just now, on this node long ago, or on another node', async () => {
    const [alice, bob] = await remembered(1_000n);
    const customerId = newId();
    const keyed = (refId: string) => optimistic(withKey(pay(alice, bob, 'USD', 1n), { customerId, refId }));
    expect(await node.path.submit(keyed('here'))).toMatchObject({ replayed: false });
    expect(await node.path.submit(keyed('here'))).toMatchObject({ replayed: true });
    expect(await other.path.submit(keyed('there'))).toMatchObject({ replayed: false });
    await node.path.submit(fund(alice, 'USD', 1n));
    await node.path.submit(fund(bob, 'USD', 1n));
    expect(await node.path.submit(keyed('there'))).toMatchObject({ replayed: true });
    const together = await Promise.all(['new', 'new', 'new'].map((refId) => node.path.submit(keyed(refId))));
    expect(together.filter((outcome) => outcome.replayed)).toHaveLength(2);
    expect(await availableOf(bob)).toBe(1_004n);
  });

  it('pays in a long series of batches that are all in flight at once', async () => {
    const [alice, bob] = await remembered(100_000n);
    const all: Promise<unknown>[] = [];
    for (let round = 0; round < 40; round += 1) {
      for (let count = 0; count < 100; count += 1) {
        all.push(
          node.path.submit(
            optimistic(
              pay(...(count % 3 === 0 ? ([bob, alice] as const) : ([alice, bob] as const)), 'USD', 1n),
            ),
          ),
        );
      }
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([98_720n, 101_280n]);
    expect(node.path.troubles).toEqual([]);
  });

  it('is decided again when it fails, together with the commands that were decided after it', async () => {
    const [alice, bob] = await remembered(100_000n);
    await other.path.submit(pay(alice, bob, 'USD', 1n));
    const payments = Array.from({ length: 3 * LIMITS.secondBatchCommandsMin }, () =>
      optimistic(pay(alice, bob, 'USD', 1n)),
    );
    await Promise.all(payments.map((payment) => node.path.submit(payment)));
    const paid = 1n + BigInt(payments.length);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([100_000n - paid, 100_000n + paid]);
    expect(node.path.troubles).toContain('stale-cache');
  });

  it('is not committed when one of its rows could not be sent', async () => {
    const [alice, bob] = await remembered(10n);
    const unsendable: Table<string> = {
      name: 'unsendable',
      sendsAtOnce: true,
      write: () => {
        throw new TypeError('cannot be sent');
      },
    };
    const plain = pay(alice, bob, 'USD', 1n);
    const broken: Command<string> = {
      ...plain,
      optimistic: true,
      decide: (view) => ({ ...plain.decide(view), writes: [write(unsendable, 'x', 'x')] }) as never,
    };
    const results = await Promise.allSettled([
      node.path.submit(optimistic(pay(alice, bob, 'USD', 2n))),
      node.path.submit(broken),
      node.path.submit(optimistic(pay(alice, bob, 'USD', 3n))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([5n, 15n]);
  });

  it('counts as executed once it is committed, even if an earlier answer cannot be processed', async () => {
    const [alice, bob] = await remembered(10n);
    const unreadable: Table<string> = {
      name: 'unreadable',
      sendsAtOnce: true,
      write: (tx) =>
        tx.query('select 1').then(() => {
          throw new TypeError('cannot be read');
        }),
    };
    const plain = pay(alice, bob, 'USD', 1n);
    await node.path.submit({
      ...plain,
      optimistic: true,
      decide: (view) => ({ ...plain.decide(view), writes: [write(unreadable, 'x', 'x')] }) as never,
    });
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([9n, 11n]);
  });

  it('is refused when the profile was disabled after it had been cached', async () => {
    const [alice, bob] = await remembered(10n);
    await test.database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, 'alice', 'NORMAL', 1)`,
      [alice, newId()],
    );
    const plain = pay(alice, bob, 'USD', 1n);
    const careful: Command<string> = {
      ...plain,
      optimistic: true,
      reads: [read(profileTable, alice)],
      decide: (view) =>
        view.row(profileTable, alice)?.status === 'ACTIVE'
          ? plain.decide(view)
          : refuse(new Problem('invalid-state', 'disabled')),
    };
    await node.path.submit(careful);
    await node.path.submit({ ...careful });
    expect(await availableOf(alice)).toBe(8n);
    await test.database.query(`update profiles set status = 'DISABLED' where id = $1`, [alice]);
    expect((await problemOf(node.path.submit({ ...careful }))).message).toBe('disabled');
    expect(await availableOf(alice)).toBe(8n);
    expect(node.path.troubles).toEqual(['stale-cache']);
  });

  it('has instants after all others of its balances, whatever time this node assumes', async () => {
    const [alice, bob] = await remembered(10n);
    await test.database.query(
      'update balances set moved_at_ns = moved_at_ns + 3600000000000 where profile_id = $1',
      [alice],
    );
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    const rows = await test.database.query<{ at_ns: bigint }>(
      'select distinct at_ns from entries where owner_id = $1 order by at_ns',
      [bob],
    );
    expect(rows).toHaveLength(3);
    expect(rows[2]!.at_ns - rows[0]!.at_ns).toBeGreaterThan(3_500_000_000_000n);
  });

  it('is not confirmed by an equal instant that another node has assigned', async () => {
    const [alice, bob] = await remembered(1_000n);
    // The clock of the database is behind the last entries, so each node assigns the next instant after them.
    await test.database.query(
      'update balances set moved_at_ns = moved_at_ns + 3600000000000 where profile_id = $1',
      [alice],
    );
    let isRolledBack: () => void = () => undefined;
    const rolledBack = new Promise<void>((resolve) => {
      isRolledBack = resolve;
    });
    const database = connectUnlocked(test.address);
    const path = createTestWritePath(
      hearing(database, async (text, rows) => {
        if (text !== 'rollback') return rows;
        isRolledBack();
        await sleep(200);
        return rows;
      }),
    );
    await path.submit(fund(alice, 'USD', 1n));
    await path.submit(fund(bob, 'USD', 1n));
    await path.submit(optimistic(pay(bob, alice, 'USD', 1n)));
    await other.path.submit(pay(alice, bob, 'USD', 500n));
    const first = path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    // The node still caches the balance that was rolled back, with the same instant as the balance that the other node wrote.
    await rolledBack;
    const others = Array.from({ length: LIMITS.secondBatchCommandsMin }, () =>
      path.submit(optimistic(pay(alice, bob, 'USD', 1n))),
    );
    await Promise.all([first, ...others]);
    const paid = 500n + 1n + BigInt(others.length);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([1_002n - paid, 1_000n + paid]);
    await path.stop();
    await database.close();
  });
});
