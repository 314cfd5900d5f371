import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import type { Command } from '../../src/ledger/command.ts';
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
import { type Pair, startPair, untilIsTrue } from '../support/standby.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

const LANES = [
  ['pessimistic', (command: Command<string>) => command],
  ['optimistic', optimistic],
] as const;

const WAITS_FOR_STANDBY = `pid from pg_stat_activity where wait_event = 'SyncRep' and datname = 'ferry'`;

describe('with synchronous replication', () => {
  let pair: Pair;
  let node: TestNode;
  let alice: string;
  let bob: string;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair.close());
  beforeEach(async () => {
    node = startNode(pair.primary.address);
    [alice, bob] = [newId(), newId()];
    await node.path.submit(fund(alice, 'USD', 100n));
    await node.path.submit(fund(bob, 'USD', 1n));
  });
  afterEach(async () => {
    await node.stop();
    expect(await auditLines(pair.primary.database)).toEqual([]);
  });

  async function untilCommitWaits(): Promise<number> {
    await untilIsTrue(pair.primary.database, `exists (select ${WAITS_FOR_STANDBY})`);
    const [row] = await pair.primary.database.query<{ pid: number }>(`select ${WAITS_FOR_STANDBY}`);
    return row!.pid;
  }

  const isVisible = async (): Promise<boolean> =>
    (await balancesOf(pair.primary.database, bob))[0]!.available > 1n;

  it.each([
    ['pessimistic', 'pg_terminate_backend', (command: Command<string>) => command],
    ['optimistic', 'pg_terminate_backend', optimistic],
    ['optimistic', 'pg_cancel_backend', optimistic],
  ] as const)(
    'a transfer (%s) whose wait for the standby is cut off by %s is acknowledged only once the standby has it',
    async (_lane, how, of) => {
      const customerId = newId();
      await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
      const seenBefore = (await balancesOf(pair.primary.database, bob))[0]!.available;
      await pair.standby.kill();
      const command = () => of(withKey(pay(alice, bob, 'USD', 10n), { customerId, refId: 'lost' }));
      const first = problemOf(node.path.submit(command()));
      await pair.primary.database.query(`select ${how}($1)`, [await untilCommitWaits()]);
      // The primary shows the transfer now, although the standby does not have it.
      while ((await balancesOf(pair.primary.database, bob))[0]!.available === seenBefore) await sleep(20);
      const replay = problemOf(node.path.submit(command()));
      expect((await first).slug).toBe('unavailable');
      expect((await first).message).toMatch(/the outcome is not known yet/);
      expect((await replay).slug).toBe('unavailable');

      await pair.standby.start();
      await expect
        .poll(
          () =>
            node.path.submit(command()).then(
              (outcome) => outcome.replayed,
              () => 'not yet',
            ),
          { interval: 100 },
        )
        .toBe(true);
      expect((await balancesOf(pair.primary.database, bob))[0]!.available).toBe(seenBefore + 10n);
      await untilIsTrue(
        pair.standby.database,
        `exists (select from balances where profile_id = $1 and available = ${seenBefore + 10n})`,
        [bob],
      );
    },
  );

  it('while the standby is down, commands are refused at once instead of taking connections', async () => {
    await pair.standby.kill();
    const first = problemOf(node.path.submit(pay(alice, bob, 'USD', 1n)));
    await pair.primary.database.query('select pg_terminate_backend($1)', [await untilCommitWaits()]);
    while (!(await isVisible())) await sleep(20);
    await expect
      .poll(async () => (await problemOf(node.path.submit(pay(alice, bob, 'USD', 1n)))).message)
      .toBe('The standby of the database does not confirm commits. Nothing was executed; retry.');
    expect((await first).slug).toBe('unavailable');
    await pair.standby.start();
    await expect
      .poll(() => node.path.submit(pay(alice, bob, 'USD', 1n)).then(() => 'done', String))
      .toBe('done');
  });
});

describe('a commit in doubt', () => {
  let pair: Pair;
  let proxy: FaultyProxy;
  let node: TestNode;
  beforeEach(async () => {
    pair = await startPair();
    proxy = await startProxy(pair.primary.address);
    node = startNode(proxy.address);
  });
  afterEach(async () => {
    await node.stop();
    await proxy.close();
    await pair.close();
  });

  /** From now on the node connects to another server, as after a failover. */
  async function leadTo(server: Pair['primary']): Promise<void> {
    const { address } = proxy;
    if (!('socketDir' in address)) throw new Error('a proxy has a socket');
    await proxy.close();
    proxy = await startProxy(server.address, address.socketDir);
  }

  async function fundedPair(): Promise<[string, string]> {
    const [alice, bob] = [newId(), newId()];
    for (const profile of [alice, bob]) await node.path.submit(fund(profile, 'USD', 100n));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    return [alice, bob];
  }

  it.each(LANES)(
    '(%s) is not resolved by a standby, but by the primary that it becomes',
    async (_lane, of) => {
      const [alice, bob] = await fundedPair();
      // The standby has the commit on disk, and has not replayed it.
      await pair.standby.database.query('select pg_wal_replay_pause()');
      proxy.failNextCommit({ kind: 'answer-lost', isLast: true });
      let isAnswered = false;
      const answer = node.path.submit(of(pay(alice, bob, 'USD', 10n))).finally(() => {
        isAnswered = true;
      });
      await expect.poll(async () => (await balancesOf(pair.primary.database, bob))[0]!.available).toBe(111n);
      await leadTo(pair.standby);
      await sleep(300);
      expect(isAnswered).toBe(false);
      await pair.primary.kill();
      await pair.standby.database.query('select pg_wal_replay_resume()');
      await pair.promote();
      expect(await answer).toMatchObject({ replayed: false });
      expect((await balancesOf(pair.standby.database, bob))[0]!.available).toBe(111n);
      expect(await auditLines(pair.standby.database)).toEqual([]);
    },
  );

  it.each(LANES)('(%s) is not resolved by an old primary after a promotion', async (_lane, of) => {
    const [alice, bob] = await fundedPair();
    await untilIsTrue(pair.standby.database, `exists (select from balances where profile_id = $1)`, [bob]);
    await pair.promote();
    await leadTo(pair.standby);
    await node.path
      .submit(pay(alice, bob, 'USD', 1n))
      .catch(() => node.path.submit(pay(alice, bob, 'USD', 1n)));
    await node.path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    proxy.failNextCommit({ kind: 'answer-lost', isLast: true });
    let isAnswered = false;
    const answer = node.path.submit(of(pay(alice, bob, 'USD', 10n))).finally(() => {
      isAnswered = true;
    });
    await expect.poll(async () => (await balancesOf(pair.standby.database, bob))[0]!.available).toBe(113n);
    await leadTo(pair.primary);
    await sleep(300);
    expect(isAnswered).toBe(false);
    await leadTo(pair.standby);
    expect(await answer).toMatchObject({ replayed: false });
  });
});
