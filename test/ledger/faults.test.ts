import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseAddress } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { type Command, read, type Table, write } from '../../src/ledger/command.ts';
import { createWritePath } from '../../src/ledger/write-path.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  assets,
  auditLines,
  createTestWritePath,
  fund,
  pay,
  problemOf,
  startNode,
  type TestNode,
  withKey,
} from '../support/ledger.ts';
import { startProxy } from './proxy.ts';

type SocketAddress = Extract<DatabaseAddress, { socketDir: string }>;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  expect(await auditLines(test.database)).toEqual([]);
  await test.drop();
});

async function availableOf(profileId: string): Promise<bigint> {
  return (await balancesOf(test.database, profileId))[0]?.available ?? 0n;
}

/** The number of entries of each cause: two for one posting. */
async function entriesByCause(): Promise<Map<string, bigint>> {
  const rows = await test.database.query<{ cause_id: string; count: bigint }>(
    'select cause_id, count(*) as count from entries group by cause_id',
  );
  return new Map(rows.map((row) => [row.cause_id, row.count]));
}

describe('connections that are cut while 64 writers write', () => {
  it('lose nothing that was accepted, and execute nothing twice or after reporting it as not executed', async () => {
    const node = startNode(test.address);
    const customerId = newId();
    const profiles = Array.from({ length: 10 }, newId);
    for (const profile of profiles) await node.path.submit(fund(profile, 'USD', 1_000_000n));
    type Said = 'accepted' | 'undone' | 'unknown';
    const said: { command: Command<string>; causeId: string; said: Said }[] = [];
    const done = new AbortController();
    const writer = async (index: number): Promise<void> => {
      for (let count = 0; !done.signal.aborted; count += 1) {
        const [from, to] = [profiles[(index + count) % 10]!, profiles[(index + 3 * count + 1) % 10]!];
        const plain = from === to ? fund(to, 'USD', 1n) : pay(from, to, 'USD', 1n);
        const decision = plain.decide(undefined as never);
        if (!decision.accepted) throw new Error('not reached');
        const command = withKey(plain, { customerId, refId: newId(), resourceId: decision.causeId });
        const answer = await node.path.submit(command).then(
          (): Said => 'accepted',
          (error: unknown): Said => {
            if (!(error instanceof Problem && error.status === 503)) throw error;
            return error.message.includes('Nothing was executed') ? 'undone' : 'unknown';
          },
        );
        said.push({ command, causeId: decision.causeId, said: answer });
      }
    };
    const writers = Promise.all(Array.from({ length: 64 }, (_, index) => writer(index)));
    const killer = startNode({ ...(test.address as SocketAddress), database: 'postgres' });
    const count = (what: Said): number => said.filter((one) => one.said === what).length;
    let killed = 0;
    while (killed < 20 || count('accepted') === 0) {
      await Promise.race([writers, sleep(5 + Math.random() * 60)]);
      const rows = await killer.database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'ferry'",
        [(test.address as SocketAddress).database],
      );
      killed += rows.length;
    }
    done.abort();
    await writers;
    await killer.stop();
    expect(node.path.troubles.length).toBeGreaterThan(0);

    const before = await entriesByCause();
    for (const one of said) {
      const entries = before.get(one.causeId) ?? 0n;
      if (one.said === 'accepted') expect(entries).toBe(2n);
      else if (one.said === 'undone') expect(entries).toBe(0n);
      else expect([0n, 2n]).toContain(entries);
    }
    expect(await auditLines(test.database)).toEqual([]);

    // The same write path continues, and a retry with the same key executes the request exactly once.
    for (let start = 0; start < said.length; start += 5_000) {
      await Promise.all(
        said.slice(start, start + 5_000).map(async ({ command, causeId }) => {
          const outcome = await node.path.submit(command);
          expect(outcome.replayed).toBe((before.get(causeId) ?? 0n) > 0n);
        }),
      );
    }
    const after = await entriesByCause();
    expect(said.filter((one) => after.get(one.causeId) !== 2n)).toEqual([]);
    await node.stop();
  });

  it('and an outage of the database: commands are refused together, and accepted when it is over', async () => {
    const proxy = await startProxy(test.address as SocketAddress);
    const node = startNode(proxy.address);
    const alice = newId();
    await node.path.submit(fund(alice, 'USD', 1n));
    await proxy.close();
    const commands = Array.from({ length: 30 }, () => fund(alice, 'USD', 1n));
    const problems = await Promise.all(commands.map((command) => problemOf(node.path.submit(command))));
    expect(new Set(problems.map((problem) => `${problem.status} ${problem.message}`))).toEqual(
      new Set([
        '503 The service is temporarily unavailable. Nothing was executed; retry with the same ref_id.',
      ]),
    );
    // Refused together, not one after the other.
    expect(node.path.troubles.length).toBeLessThanOrEqual(2);
    const back = await startProxy(test.address as SocketAddress, (proxy.address as SocketAddress).socketDir);
    await Promise.all(commands.map((command) => node.path.submit(command)));
    expect(await availableOf(alice)).toBe(31n);
    await node.stop();
    await back.close();
  });
});

describe('a row that another session keeps locked', () => {
  it.each([
    ['one command', 1],
    ['eight commands', 8],
  ])('costs the %s that need it a 503, and the 56 others one lock timeout', async (_, stuckCount) => {
    const node = startNode(test.address);
    const locked = newId();
    const others = Array.from({ length: 56 }, newId);
    for (const profile of [locked, ...others]) await node.path.submit(fund(profile, 'USD', 1n));
    const holder = await test.database.reserve();
    await holder.query('set idle_in_transaction_session_timeout = 0');
    await holder.query('begin');
    await holder.query('select * from balances where profile_id = $1 for update', [locked]);
    const stuck = Array.from({ length: stuckCount }, () =>
      problemOf(node.path.submit(fund(locked, 'USD', 5n))),
    );
    await Promise.all(others.map((profile) => node.path.submit(fund(profile, 'USD', 5n))));
    const refusals = await Promise.all(stuck);
    await holder.query('rollback');
    holder.release();
    for (const { message } of refusals) {
      expect(message).toBe(
        'Another session has locked a balance of this request. Nothing was executed; retry.',
      );
    }
    expect(await availableOf(locked)).toBe(1n);
    for (const profile of others) expect(await availableOf(profile)).toBe(6n);
    await node.path.submit(fund(locked, 'USD', 2n));
    expect(await availableOf(locked)).toBe(3n);
    await node.stop();
    // Each lock timeout is one of these.
    expect(node.path.troubles).toEqual(['isolated']);
  });
});

describe('a command that only the database refuses', () => {
  const circular: Record<string, unknown> = {};
  circular.itself = circular;
  const tables: [string, Table<string>][] = [
    [
      'breaks a constraint',
      {
        name: 'breaks a constraint',
        write: (tx) =>
          tx.query("insert into balances (profile_id, asset, available) values ($1, 'USD', -1)", [newId()]),
      },
    ],
    [
      'fails before any SQL is sent',
      {
        name: 'throws',
        write() {
          throw new Error('a bug in a store');
        },
      },
    ],
    [
      'sends what the driver cannot send',
      {
        name: 'unsendable',
        write: (tx) => tx.query('select $1::text as text', [circular as never]),
      },
    ],
    [
      'reads what the driver cannot read',
      { name: 'unreadable', write: (tx) => tx.query('select 1.5::numeric as half') },
    ],
    [
      'hides that its statement failed',
      { name: 'hides', write: (tx) => tx.query('select 1 / 0 as never').catch(() => undefined) },
    ],
    [
      'cannot load what it reads',
      {
        name: 'unloadable',
        load: async (tx) => new Map(await tx.query('select 1 / 0 as never').then(() => [])),
        write: async () => undefined,
      },
    ],
  ];

  async function expectFailsAlone(node: Pick<TestNode, 'path'>, table: Table<string>): Promise<void> {
    const { path } = node;
    const [customerId, alice] = [newId(), newId()];
    const others = Array.from({ length: 20 }, newId);
    for (const profile of [alice, ...others]) await path.submit(fund(profile, 'USD', 1n));
    const plain = fund(alice, 'USD', 100n);
    const bad: Command<string> = withKey(
      {
        ...plain,
        reads: table.load === undefined ? [] : [read(table, 'any')],
        decide: (view) => ({ ...plain.decide(view), writes: [write(table, 'any', 'any')] }) as never,
      },
      { customerId, refId: 'bad' },
    );
    const commands: Command<string>[] = others.map((profile) => fund(profile, 'USD', 1n));
    commands.splice(10, 0, bad);
    const results = await Promise.allSettled(commands.map((command) => path.submit(command)));
    expect(results.map((result) => result.status)).toEqual(
      commands.map((command) => (command === bad ? 'rejected' : 'fulfilled')),
    );
    const { reason } = results[10] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(Error);
    // A bug is not reported as an unavailable database, which clients would retry without end.
    expect(reason).not.toBeInstanceOf(Problem);
    for (const profile of others) expect(await availableOf(profile)).toBe(2n);
    expect(await availableOf(alice)).toBe(1n);
    expect(await path.submit(withKey(fund(alice, 'USD', 2n), { customerId, refId: 'bad' }))).toMatchObject({
      replayed: false,
    });
  }

  it.each(tables)('because it %s fails alone, and the others of its batch commit', async (_, table) => {
    await expectFailsAlone({ path: createTestWritePath(test.database) }, table);
  });

  it('fails alone also when the server reports errors in another language', async () => {
    const proxy = await startProxy(test.address as SocketAddress);
    const node = startNode(proxy.address);
    proxy.speakCzech();
    await expectFailsAlone(node, tables[0]![1]);
    await node.stop();
    await proxy.close();
  });
});

describe('a store that throws at the moment at which the connection breaks', () => {
  it('leaves no unhandled rejection behind', async () => {
    const proxy = await startProxy(test.address as SocketAddress);
    const node = startNode(proxy.address);
    const alice = newId();
    await node.path.submit(fund(alice, 'USD', 1n));
    const table: Table<string> = {
      name: 'throws at the worst moment',
      write() {
        proxy.cut();
        throw new Error('a bug in a store');
      },
    };
    // An unhandled rejection would end the process; here it would fail the run.
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    const plain = fund(alice, 'USD', 1n);
    const bad: Command<string> = {
      ...plain,
      decide: (view) => ({ ...plain.decide(view), writes: [write(table, 'any', 'any')] }) as never,
    };
    await expect(node.path.submit(bad)).rejects.toBeInstanceOf(Error);
    await sleep(50);
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
    await node.path.submit(fund(alice, 'USD', 1n));
    expect(await availableOf(alice)).toBe(2n);
    await node.stop();
    await proxy.close();
  });
});

describe('an observer that throws', () => {
  it('does not cause a committed batch to be executed again', async () => {
    const fail = (): never => {
      throw new Error('a bug in an observer');
    };
    const path = createWritePath({
      database: test.database,
      assets,
      observer: { batch: () => undefined, queue: () => undefined, trouble: () => undefined, committed: fail },
    });
    const alice = newId();
    await Promise.allSettled([1n, 2n, 4n, 8n].map((units) => path.submit(fund(alice, 'USD', units))));
    await path.stop();
    expect(await availableOf(alice)).toBe(15n);
  });
});

describe('the queue', () => {
  it('has a bound: commands beyond it get a 503 at once, and all that are queued are executed', async () => {
    const path = createTestWritePath(test.database);
    const profiles = Array.from({ length: 100 }, newId);
    const commands = Array.from({ length: LIMITS.queueCommandsMax + 50 }, (_, index) =>
      fund(profiles[index % 100]!, 'USD', 1n),
    );
    const results = await Promise.allSettled(commands.map((command) => path.submit(command)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(50);
    expect(results.slice(-50)).toEqual(refused);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ slug: 'unavailable', retryAfterSeconds: 1 });
      expect((reason as Problem).message).toMatch(/Nothing was executed/);
    }
    for (const profile of profiles) expect(await availableOf(profile)).toBe(100n);
    expect(Math.max(...path.batches)).toBe(LIMITS.batchCommandsMax);
    expect(path.troubles).toEqual([]);
  });

  it('is emptied before stop() resolves, and accepts nothing new meanwhile or afterwards', async () => {
    const path = createTestWritePath(test.database);
    const alice = newId();
    await path.submit(fund(alice, 'USD', 1n));
    let settled = 0;
    const waiting = Array.from({ length: 1_200 }, async () => {
      await path.submit(fund(alice, 'USD', 1n));
      settled += 1;
    });
    const stopped = path.stop();
    const late = problemOf(path.submit(fund(alice, 'USD', 1n)));
    await stopped;
    await turn();
    expect(settled).toBe(1_200);
    await Promise.all(waiting);
    expect((await late).message).toBe('The service is shutting down. Nothing was executed; retry.');
    await path.stop();
    expect((await problemOf(path.submit(fund(alice, 'USD', 1n)))).slug).toBe('unavailable');
    expect(await availableOf(alice)).toBe(1_201n);
  });
});
