import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOutageLog } from '../../src/database/outage.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assets, auditLines, createTestWritePath, fund, problemOf, startNode } from '../support/ledger.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  // Counts attempts, including rolled back ones, and fails like a server that cannot write.
  await test.database.query('create sequence attempts');
});
afterAll(() => test.drop());
afterEach(async () => {
  await works();
  expect(await auditLines(test.database)).toEqual([]);
});

async function failsWith(code: string): Promise<void> {
  await test.database.query("select setval('attempts', 1)");
  await test.database.query(`create or replace function fails() returns trigger language plpgsql as $$
    begin
      perform nextval('attempts');
      raise exception 'could not write' using errcode = '${code}';
    end $$`);
  // Not on entries, which on a cluster are on other servers.
  await test.database.query(
    'create trigger fails before insert on system_deltas for each statement execute function fails()',
  );
}

async function works(): Promise<void> {
  await test.database.query('drop trigger if exists fails on system_deltas');
}

async function attempts(): Promise<number> {
  const [row] = await test.database.query<{ count: number }>(
    'select (last_value - 1)::integer as count from attempts',
  );
  return row!.count;
}

describe('a server that cannot write', () => {
  it.each([
    ['has no room left on its disk', '53100'],
    ['is out of memory', '53200'],
    ['is read-only', '25006'],
    ['cannot read or write a file', '58030'],
  ])('since it %s makes the whole batch a 503, without trying its commands one by one', async (_, code) => {
    const node = startNode(test.address);
    const [alice, bob] = [newId(), newId()];
    for (const profile of [alice, bob]) await node.path.submit(fund(profile, 'USD', 1n));
    await failsWith(code);
    const commands = Array.from({ length: 64 }, () => fund(alice, 'USD', 1n));
    const problems = await Promise.all(commands.map((command) => problemOf(node.path.submit(command))));
    for (const { status, retryAfterSeconds, message } of problems) {
      expect([status, retryAfterSeconds]).toEqual([503, 1]);
      expect(message).toMatch(/Nothing was executed/);
    }
    expect(await attempts()).toBe(node.path.troubles.length);
    expect(new Set(node.path.troubles)).toEqual(new Set(['unavailable']));
    expect(node.path.troubles.length).toBeLessThanOrEqual(2);
    await works();
    await Promise.all(commands.map((command) => node.path.submit(command)));
    await node.stop();
  });

  it('is logged once while commands keep failing, and once when they succeed', async () => {
    const lines: string[] = [];
    const logger = pino(
      { level: 'info' },
      { write: (text: string) => void lines.push(JSON.parse(text).msg) },
    );
    const log = createOutageLog(test.database, logger);
    const path = createTestWritePath(test.database, assets, (what, error) => log.warn({ err: error }, what));
    const alice = newId();
    await failsWith('53100');
    const until = performance.now() + 2.5 * LIMITS.outageLookMs;
    let count = 0;
    while (performance.now() < until || count < 50) {
      await problemOf(path.submit(fund(alice, 'USD', 1n)));
      count += 1;
    }
    expect(lines).toEqual([
      'the database is unavailable; background work is paused until it is available again',
    ]);
    await works();
    await path.submit(fund(alice, 'USD', 1n));
    await vi.waitFor(() => expect(lines.slice(1)).toEqual(['the database is available again']), 30_000);
    log.stop();
    await path.stop();
  });
});

it('a database that became read-only causes a 503 for every command, and recovers by itself', async () => {
  const node = startNode(test.address);
  const alice = newId();
  await node.path.submit(fund(alice, 'USD', 1n));
  const name = 'database' in test.address ? test.address.database : '';
  const reconnect = (): Promise<unknown> =>
    test.database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
      [name],
    );
  await test.database.query(`alter database ${name} set default_transaction_read_only = on`);
  await reconnect();
  await vi.waitFor(async () => {
    const problem = await problemOf(node.path.submit(fund(alice, 'USD', 1n)));
    expect(problem.slug).toBe('unavailable');
    const [row] = await node.database.query<{ transaction_read_only: string }>('show transaction_read_only');
    expect(row!.transaction_read_only).toBe('on');
  }, 30_000);
  expect((await problemOf(node.path.submit(fund(alice, 'USD', 1n)))).slug).toBe('unavailable');
  const healer = startNode({
    ...(test.address as { socketDir: string; port: number; user: string }),
    database: 'postgres',
  });
  await healer.database.query(`alter database ${name} reset default_transaction_read_only`);
  await reconnect();
  await vi.waitFor(() => node.path.submit(fund(alice, 'USD', 1n)), 30_000);
  await healer.stop();
  await node.stop();
});
