import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Connection, Database } from '../../src/database/database.ts';
import { type OpenDatabase, openForService } from '../../src/database/open.ts';
import { LIMITS } from '../../src/limits.ts';
import { assemble, type Service } from '../../src/main.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { urlOf } from '../support/process.ts';
import { until } from '../support/until.ts';

const logger = pino({ level: 'silent' });
let test: TestDatabase;
let opened: OpenDatabase;
let service: Service;
let asked = 0;
beforeAll(async () => {
  test = await createTestDatabase();
  const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', DATABASE_URL: urlOf(test.address) });
  opened = await openForService(config, { log: logger });
  const healthDatabase: Database = {
    ...opened.healthDatabase,
    query(text, parameters) {
      asked += 1;
      return opened.healthDatabase.query(text, parameters);
    },
  };
  service = await assemble({ config, ...opened, healthDatabase, logger });
  await service.start();
  service.setReady();
});
afterAll(async () => {
  await service.stop();
  await opened.close();
  await test.drop();
});

const ready = async (): Promise<number> => (await fetch(`${service.url()}/health/ready`)).status;

it('readiness has a connection of its own: a node whose other connections are all in use is ready', async () => {
  const { database, writeDatabase } = opened;
  const reserved: Connection[] = [];
  let isOver = false;
  const exhaust = async (pool: Database, connectionsMax: number): Promise<void> => {
    // Workers hold some of them, so that not all of these are successful; none is free once one waits.
    for (let count = 0; count <= connectionsMax; count += 1)
      pool.reserve().then(
        (connection) => {
          if (isOver) connection.release();
          else reserved.push(connection);
        },
        () => undefined,
      );
    await until('all connections are in use', () => pool.queue.waiting() > 0);
  };
  await exhaust(database, LIMITS.databaseConnectionsMax);
  await exhaust(writeDatabase, LIMITS.writePathConnectionsMax);
  expect(await ready()).toBe(200);
  isOver = true;
  for (const connection of reserved) connection.release();
});

it('many probes at the same time cost one query', async () => {
  asked = 0;
  const statuses = await Promise.all(Array.from({ length: 100 }, ready));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(100);
});

it('metrics are rendered once for all who ask within a second', async () => {
  const texts = await Promise.all(
    Array.from({ length: 50 }, async () => (await fetch(`${service.url()}/metrics`)).text()),
  );
  const counts = texts.map((text) => /^ferry_process_cpu_seconds_total (\S+)$/m.exec(text)![1]);
  expect(new Set(counts).size).toBeLessThan(10);
});
