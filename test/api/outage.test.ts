import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { connectDatabase, type DatabaseAddress } from '../../src/database/database.ts';
import { createOutageLog } from '../../src/database/outage.ts';
import { assemble } from '../../src/main.ts';
import { startProxy } from '../ledger/proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

type SocketAddress = Extract<DatabaseAddress, { socketDir: string }>;
type Line = { level: number; msg: string; err?: { message: string } };
const WARN = 40;

function capture() {
  const lines: Line[] = [];
  const logger = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  return { lines, logger };
}

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('a database that goes away is one line in the log of an idle node, and one when it is back', async () => {
  const proxy = await startProxy(test.address as SocketAddress);
  const database = connectDatabase(proxy.address);
  const { lines, logger } = capture();
  const service = await assemble({ config: readConfig({ PORT: '0' }), database, logger });
  await service.start();
  service.setReady();
  const ready = async (): Promise<number> => (await fetch(`${service.url()}/health/ready`)).status;
  await vi.waitFor(async () => expect(await ready()).toBe(200), 10_000);

  lines.length = 0;
  await proxy.close();
  await vi.waitFor(() => expect(lines).not.toEqual([]), 10_000);
  // Time for every loop to fail several times.
  await sleep(4_000);
  expect(await ready()).toBe(503);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the database is unavailable; background work is paused until it is available again',
  ]);
  const parts = lines[0]!.err!.message.split(': ');
  expect(parts[0]).toBe('the database is unavailable');
  expect(parts.length).toBeGreaterThan(1);
  expect(new Set(parts).size).toBe(parts.length);

  lines.length = 0;
  const back = await startProxy(test.address as SocketAddress, (proxy.address as SocketAddress).socketDir);
  await vi.waitFor(
    () => expect(lines.map(({ msg }) => msg)).toContain('the database is available again'),
    20_000,
  );
  await sleep(2_500);
  expect(lines.map(({ msg }) => msg)).toEqual(['the database is available again']);
  await service.stop();
  await database.close();
  await back.close();
});

it('other faults are logged as they come, each with its own words', async () => {
  const { lines, logger } = capture();
  const log = createOutageLog(test.database, logger);
  for (const word of ['one', 'two']) log.warn({ err: new Error('broken') }, word);
  expect(lines.map(({ level, msg, err }) => [level, msg, err?.message])).toEqual([
    [WARN, 'one', 'broken'],
    [WARN, 'two', 'broken'],
  ]);
  log.stop();
});
