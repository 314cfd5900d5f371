import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, DatabaseAddress } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  auditLines,
  fund,
  optimistic,
  pay,
  problemOf,
  startNode,
  type TestNode,
  withKey,
} from '../support/ledger.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

let test: TestDatabase;
let proxy: FaultyProxy;
let node: TestNode;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  proxy = await startProxy(test.address as Extract<DatabaseAddress, { socketDir: string }>);
  node = startNode(proxy.address, untimed);
});
afterEach(async () => {
  expect(await auditLines(test.database)).toEqual([]);
  await node.stop();
  await proxy.close();
});

/** Sessions that the server does not end while their COMMIT is delayed. */
function untimed(database: Database): Database {
  return {
    ...database,
    async reserve(options) {
      const connection = await database.reserve(options);
      await connection.query('set idle_in_transaction_session_timeout = 0');
      return connection;
    },
  };
}

async function availableOf(profileId: string): Promise<bigint> {
  return (await balancesOf(test.database, profileId))[0]?.available ?? 0n;
}

describe('a commit whose answer never came', () => {
  it.each([
    ['was done by the server', () => ({ kind: 'answer-lost' as const })],
    [
      'reaches the server only after the connection is gone',
      () => ({ kind: 'late' as const, sent: sleep(300) }),
    ],
  ])('is acknowledged when it %s, and nothing is executed twice', async (_, fault) => {
    const [customerId, alice, bob] = [newId(), newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 100n));
    await node.path.submit(fund(bob, 'USD', 1n));
    proxy.failNextCommit(fault());
    const keyed = (): ReturnType<typeof pay> =>
      withKey(pay(alice, bob, 'USD', 10n), { customerId, refId: 'doubt' });
    const [first, replay, refused, second] = await Promise.allSettled([
      node.path.submit(keyed()),
      node.path.submit(keyed()),
      node.path.submit(pay(alice, bob, 'USD', 1_000n)),
      node.path.submit(pay(bob, alice, 'USD', 3n)),
    ]);
    expect(proxy.failed).toBe(1);
    expect(first).toMatchObject({ status: 'fulfilled', value: { replayed: false } });
    expect(replay).toMatchObject({ status: 'fulfilled', value: { replayed: true } });
    expect(refused).toMatchObject({ status: 'rejected', reason: { slug: 'insufficient-funds' } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { replayed: false } });
    expect(node.path.troubles).toEqual(['in-doubt']);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([93n, 8n]);
    expect(await node.path.submit(keyed())).toMatchObject({ replayed: true });
    await node.path.submit(pay(bob, alice, 'USD', 8n));
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([101n, 0n]);
  });

  it('is reported as not executed when it never reached the server, and can be retried at once', async () => {
    const [customerId, alice] = [newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 1n));
    proxy.failNextCommit({ kind: 'never-sent' });
    const commands = Array.from({ length: 5 }, (_, index) =>
      withKey(fund(alice, 'USD', 10n), { customerId, refId: `lost ${index}` }),
    );
    const problems = await Promise.all(commands.map((command) => problemOf(node.path.submit(command))));
    expect(proxy.failed).toBe(1);
    for (const problem of problems) {
      expect(problem.status).toBe(503);
      expect(problem.message).toMatch(/Nothing was executed/);
    }
    expect(await availableOf(alice)).toBe(1n);
    const repeated = await Promise.all(commands.map((command) => node.path.submit(command)));
    expect(repeated.map((outcome) => outcome.replayed)).toEqual([false, false, false, false, false]);
    expect(await availableOf(alice)).toBe(51n);
  });

  it('is reported as unknown when its outcome is not known in time, and a retry finds out', async () => {
    const [customerId, alice] = [newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 1n));
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    proxy.failNextCommit({ kind: 'late', sent });
    const command = withKey(fund(alice, 'USD', 10n), { customerId, refId: 'unknown' });
    const problem = await problemOf(node.path.submit(command));
    expect(problem.status).toBe(503);
    expect(problem.message).toMatch(/the outcome is not known yet/);
    // The retry waits for the idempotency key that the first request has locked, and then finds that request executed.
    const retried = node.path.submit(command);
    send();
    expect(await retried).toMatchObject({ replayed: true });
    expect(await availableOf(alice)).toBe(11n);
  });
});

describe('a flight of the optimistic lane that was cut off', () => {
  it.each([
    ['was done by the server', () => ({ kind: 'answer-lost' as const })],
    [
      'reaches the server only after the connection is gone',
      () => ({ kind: 'late' as const, sent: sleep(300) }),
    ],
  ])('is acknowledged when it %s, and nothing is executed twice', async (_, fault) => {
    const [customerId, alice, bob] = [newId(), newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 100n));
    await node.path.submit(fund(bob, 'USD', 1n));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    const keyed = (): ReturnType<typeof pay> =>
      optimistic(withKey(pay(alice, bob, 'USD', 10n), { customerId, refId: 'doubt' }));
    proxy.failNextCommit(fault());
    const [first, replay, second] = await Promise.allSettled([
      node.path.submit(keyed()),
      node.path.submit(keyed()),
      node.path.submit(optimistic(pay(bob, alice, 'USD', 3n))),
    ]);
    expect(proxy.failed).toBe(1);
    expect(first).toMatchObject({ status: 'fulfilled', value: { replayed: false } });
    expect(replay).toMatchObject({ status: 'fulfilled', value: { replayed: true } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { replayed: false } });
    expect(node.path.troubles).toEqual(['in-doubt']);
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([92n, 9n]);
    expect(await node.path.submit(keyed())).toMatchObject({ replayed: true });
    await node.path.submit(optimistic(pay(bob, alice, 'USD', 9n)));
    expect([await availableOf(alice), await availableOf(bob)]).toEqual([101n, 0n]);
  });

  it('is reported as not executed when it never reached the server', async () => {
    const [customerId, alice] = [newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 1n));
    proxy.failNextCommit({ kind: 'never-sent' });
    const command = optimistic(withKey(fund(alice, 'USD', 10n), { customerId, refId: 'lost' }));
    const problem = await problemOf(node.path.submit(command));
    expect(problem.message).toMatch(/Nothing was executed/);
    expect(await availableOf(alice)).toBe(1n);
    expect(await node.path.submit(command)).toMatchObject({ replayed: false });
    expect(await availableOf(alice)).toBe(11n);
  });

  it('changes nothing when it arrives after its callers have retried', async () => {
    const [customerId, alice] = [newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 1n));
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    proxy.failNextCommit({ kind: 'late', sent });
    const command = optimistic(withKey(fund(alice, 'USD', 10n), { customerId, refId: 'unknown' }));
    const problem = await problemOf(node.path.submit(command));
    expect(problem.message).toMatch(/the outcome is not known yet/);
    expect(await node.path.submit(command)).toMatchObject({ replayed: false });
    send();
    await proxy.done;
    expect(await availableOf(alice)).toBe(11n);
    expect(await node.path.submit(command)).toMatchObject({ replayed: true });
  });
});
