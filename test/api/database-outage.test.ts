import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { connectDatabase, type DatabaseAddress } from '../../src/database/database.ts';
import { createOutageLog } from '../../src/database/outage.ts';
import { assemble } from '../../src/main.ts';
import { startProxy } from '../ledger/proxy.ts';
import { refuseConnections } from '../support/closed-socket.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

type SocketAddress = Extract<DatabaseAddress, { socketDir: string }>;
type Line = { level: number; msg: string; err?: { message: string } };
const WARN = 40;

function capture() {
  const lines: Line[] = [];
  const logger = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  return { lines, logger };
}

/** The number of transactions so far; an idle node adds those of its loops. */
async function committed(): Promise<bigint> {
  const [row] = await test.database.query<{ xact_commit: bigint }>(
    'select xact_commit from pg_stat_database where datname = current_database()',
  );
  return row!.xact_commit;
}

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('an idle node logs one line when the database becomes unavailable, and one when it is available again', async () => {
  const proxy = await startProxy(test.address as SocketAddress);
  const database = connectDatabase(proxy.address);
  const { lines, logger } = capture();
  const service = await assemble({ config: readConfig({ PORT: '0' }), database, logger });
  await service.start();
  service.setReady();
  const ready = async (): Promise<number> => (await fetch(`${service.url()}/health/ready`)).status;
  await expect.poll(ready).toBe(200);

  lines.length = 0;
  await proxy.close();
  const closed = await refuseConnections(proxy.address as SocketAddress);
  // The node has about ten loops: each has failed several times by then.
  await expect.poll(closed.attempts).toBeGreaterThan(60);
  expect(await ready()).toBe(503);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the database is unavailable; background work is paused until it is available again',
  ]);
  const parts = lines[0]!.err!.message.split(': ');
  expect(parts[0]).toBe('the database is unavailable');
  expect(parts.length).toBeGreaterThan(1);
  expect(new Set(parts).size).toBe(parts.length);

  lines.length = 0;
  await closed.close();
  const back = await startProxy(test.address as SocketAddress, (proxy.address as SocketAddress).socketDir);
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain('the database is available again');
  await expect.poll(committed).toBeGreaterThan((await committed()) + 60n);
  expect(lines.map(({ msg }) => msg)).toEqual(['the database is available again']);
  await service.stop();
  await database.close();
  await back.close();
});

it('other errors are logged individually', async () => {
  const { lines, logger } = capture();
  const log = createOutageLog(test.database, logger);
  for (const word of ['one', 'two']) log.warn({ err: new Error('broken') }, word);
  expect(lines.map(({ level, msg, err }) => [level, msg, err?.message])).toEqual([
    [WARN, 'one', 'broken'],
    [WARN, 'two', 'broken'],
  ]);
  log.stop();
});
