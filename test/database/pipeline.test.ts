import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Connection,
  connectDatabase,
  type Database,
  type Queryable,
} from '../../src/database/database.ts';
import { DatabaseUnavailable } from '../../src/database/failure.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Statements of one turn of the event loop: sent together, answered together. */
let test: TestDatabase;
let database: Database;
let connection: Connection;

beforeAll(async () => {
  test = await createTestDatabase();
  await test.database.query(
    'create table numbers (number integer primary key check (number > 0), word text)',
  );
  // One connection, so that each test runs with the prepared statements of those before it.
  database = connectDatabase(test.address, 1);
  connection = await database.reserve();
});
afterAll(async () => {
  connection.release();
  await database.close();
  await test.drop();
});

const INSERT = 'insert into numbers (number, word) values ($1, $2) returning number, word';

it('answers each statement with its own rows, the first time and later', async () => {
  for (const round of [1, 2, 3]) {
    const answers = await Promise.all([
      connection.query('select $1::integer as round, null as nothing', [round]),
      connection.query('set local lock_timeout = 100'),
      connection.query(
        'select count(*) as count, array[1, 2] as list, true as yes from numbers where number < 0',
      ),
      connection.query('select 1 as one where false'),
    ]);
    expect(answers).toEqual([[{ round, nothing: null }], [], [{ count: 0n, list: [1, 2], yes: true }], []]);
  }
});

it('skips the statements after a failed one, keeps those before it, and stays usable', async () => {
  const settled = await Promise.allSettled([
    connection.query('select 1 as one'),
    connection.query(INSERT, [-1, 'too small']),
    connection.query('select 2 as two'),
  ]);
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: [{ one: 1 }] },
    { status: 'rejected', reason: { code: '23514' } },
    { status: 'rejected', reason: { message: 'not executed: a statement before it failed' } },
  ]);
  expect(await connection.query('select 2 as two')).toEqual([{ two: 2 }]);
});

it('can use a statement whose first pipeline failed, whether or not the server had prepared it', async () => {
  const late = 'select number, word, 1 as late from numbers';
  const first = [connection.query(INSERT, [-2, 'too small']), connection.query(late)];
  expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([connection.query(INSERT, [1, 'one']), connection.query(late)])).toEqual([
    [{ number: 1, word: 'one' }],
    [{ number: 1, word: 'one', late: 1 }],
  ]);
  const broken = 'selekt 1';
  await expect(connection.query(broken)).rejects.toMatchObject({ code: '42601' });
  await expect(connection.query(broken)).rejects.toMatchObject({ code: '42601' });
});

it('a transaction whose pipeline fails half way commits nothing', async () => {
  const settled = await Promise.allSettled([
    connection.query('begin'),
    connection.query(INSERT, [10, 'ten']),
    connection.query(INSERT, [10, 'ten again']),
    connection.query(INSERT, [11, 'eleven']),
  ]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  await expect(connection.commit()).rejects.toThrow('the transaction ended with ROLLBACK');
  expect(await connection.query('select number from numbers where number >= 10')).toEqual([]);
});

it('a row that cannot be decoded fails only its own statement', async () => {
  const settled = await Promise.allSettled([
    connection.query('select 1.5::numeric as half'),
    connection.query('select 1.0::numeric(3, 0) as one'),
  ]);
  expect(settled).toMatchObject([
    { status: 'rejected', reason: { name: 'SyntaxError' } },
    { status: 'fulfilled', value: [{ one: 1n }] },
  ]);
});

it('a value that cannot be encoded fails only its own statement, and nothing is sent', async () => {
  const settled = await Promise.allSettled([
    connection.query('select $1::text as text', [{} as never]),
    connection.query('select $1::text as text', ['fine']),
  ]);
  expect(settled).toMatchObject([
    { status: 'rejected', reason: { message: 'not a parameter' } },
    { status: 'fulfilled', value: [{ text: 'fine' }] },
  ]);
});

/** It stops processes of the server, which may be on another machine if the tests were given one. */
const itWithOwnServer = it.runIf(process.env.FERRY_TEST_DATABASE_URL === undefined);

itWithOwnServer(
  'gives up on a server that does not answer, reports it as unavailable, and uses no older connection',
  async () => {
    const lonely = connectDatabase(test.address, 3);
    const pidOf = async (one: Queryable): Promise<number> =>
      (await one.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid;
    const [frozen, idle] = [await lonely.reserve(), await lonely.reserve()];
    const pids = [await pidOf(frozen), await pidOf(idle)];
    idle.release();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      const started = performance.now();
      const settled = await Promise.allSettled([frozen.query('select 1'), frozen.query('select 2')]);
      expect(performance.now() - started).toBeGreaterThan(LIMITS.statementTimeoutMs);
      for (const one of settled)
        expect((one as PromiseRejectedResult).reason).toBeInstanceOf(DatabaseUnavailable);
      expect(frozen.isOpen()).toBe(false);
      // The idle connection would not answer either, which would take another timeout to find out.
      expect(pids).not.toContain(await pidOf(lonely));
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      frozen.release();
      await lonely.close();
    }
  },
);

it('keeps no reference to the values of a statement that was answered', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const flights = 100;
  const bytes = 100_000;
  const before = process.memoryUsage().arrayBuffers;
  for (let flight = 0; flight < flights; flight += 1) {
    await connection.query('select length($1::bytea) as length', [Buffer.alloc(bytes)]);
    // Twice, because an object that survives two minor collections is promoted to the old generation.
    if (flight % 10 === 9) for (let time = 0; time < 2; time += 1) collect({ type: 'minor' });
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((flights * bytes) / 4);
});

it('closing a pool does not wait for a long statement', async () => {
  const closing = connectDatabase(test.address, 1);
  const busy = await closing.reserve();
  await busy.query('set statement_timeout = 0');
  const slow = busy.query('select pg_sleep(60)').catch((error: unknown) => error);
  await closing.close();
  expect(await slow).toBeInstanceOf(DatabaseUnavailable);
});

it('a statement fails if its commit does', async () => {
  await test.database.query(
    'create table followers (number integer references numbers deferrable initially deferred)',
  );
  const follow = (number: number) =>
    connection.query('insert into followers (number) values ($1) returning number', [number]);
  await expect(follow(4_711)).rejects.toThrow(/followers_number_fkey/);
  const both = await Promise.allSettled([connection.query(INSERT, [4_712, 'kept']), follow(4_711)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await connection.query('select from numbers where number = 4712')).toEqual([]);
  expect(await connection.query('select from followers')).toEqual([]);
});

it('each statement sees what was committed before it, whatever the database says', async () => {
  await test.database.query(
    `do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$`,
  );
  const other = connectDatabase(test.address, 1);
  try {
    const count = await other.transaction(async (tx) => {
      await tx.query('select from numbers');
      await test.database.query(INSERT, [4_713, 'later']);
      return tx.query('select number from numbers where number = 4713');
    });
    expect(count).toEqual([{ number: 4_713 }]);
  } finally {
    await other.close();
  }
});
