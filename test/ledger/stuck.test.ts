import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Connection, connectWritePath, type Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { auditLines, createTestWritePath, fund, optimistic, pay, problemOf } from '../support/ledger.ts';
import { unlocked } from '../support/vault.ts';

let test: TestDatabase;
let database: Database;
let path: ReturnType<typeof createTestWritePath>;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  database = unlocked(connectWritePath(test.address));
  path = createTestWritePath(database);
});
afterEach(async () => {
  await path.stop();
  await database.close();
  expect(await auditLines(test.database)).toEqual([]);
});

async function funded(count: number): Promise<string[]> {
  const profiles = Array.from({ length: count }, newId);
  for (const profile of profiles) await path.submit(fund(profile, 'USD', 100n));
  path.troubles.length = 0;
  return profiles;
}

const availableOf = async (profileId: string): Promise<bigint> =>
  (await balancesOf(test.database, profileId))[0]!.available;

async function lock(connection: Connection, profileId: string): Promise<void> {
  await connection.query('begin');
  await connection.query('select * from balances where profile_id = $1 for update', [profileId]);
}

it('a node that is frozen inside a batch delays the others, and no command is refused', async () => {
  const [shared, other] = (await funded(2)) as [string, string];
  const frozen = unlocked(connectWritePath(test.address));
  const connection = await frozen.reserve();
  await lock(connection, shared);
  const commands = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0 ? pay(other, shared, 'USD', 1n) : optimistic(pay(shared, other, 'USD', 1n)),
  );
  await Promise.all(commands.map((command) => path.submit(command)));
  expect([await availableOf(shared), await availableOf(other)]).toEqual([100n, 100n]);
  connection.release();
  await frozen.close();
});

it('a batch whose node was paused is decided again, since the server rolled it back', async () => {
  const [alice] = (await funded(1)) as [string];
  const plain = fund(alice, 'USD', 1n);
  let decisions = 0;
  await path.submit({
    ...plain,
    decide(view) {
      decisions += 1;
      // The whole process is blocked, as when its machine is paused.
      if (decisions === 1)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * LIMITS.batchIdleTimeoutMs);
      return plain.decide(view);
    },
  });
  expect([decisions, await availableOf(alice)]).toEqual([2, 101n]);
  expect(path.troubles).toEqual(['connection-lost']);
});

it('a session that never releases a balance delays one batch, not every batch', async () => {
  const [stuck, alice, bob] = (await funded(3)) as [string, string, string];
  const holder = await test.database.reserve();
  await holder.query('set idle_in_transaction_session_timeout = 0');
  await lock(holder, stuck);
  for (let round = 0; round < 20; round += 1) {
    const refused = problemOf(
      path.submit(round % 2 === 0 ? pay(stuck, bob, 'USD', 1n) : fund(stuck, 'USD', 1n)),
    );
    await path.submit(pay(alice, bob, 'USD', 1n));
    expect((await refused).slug).toBe('unavailable');
  }
  expect(path.troubles).toEqual(['isolated']);
  expect(await availableOf(bob)).toBe(120n);
  await holder.query('rollback');
  await path.submit(pay(stuck, bob, 'USD', 1n));
  expect([await availableOf(stuck), await availableOf(bob)]).toEqual([99n, 121n]);
  // A new lock on the balance is waited for again: it may be released in time.
  await lock(holder, stuck);
  const waiting = path.submit(pay(stuck, bob, 'USD', 1n));
  await holder.query('rollback');
  await waiting;
  holder.release();
});
