import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sequence } from '../../src/events/feed-store.ts';
import { newId } from '../../src/kernel/id.ts';
import { createEndpointCommand } from '../../src/webhooks/commands.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { emit } from '../support/events.ts';
import { createTestWritePath } from '../support/ledger.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const ENDPOINTS = 10;
const RESOURCES = 250;
const STEPS = 4;
const KILLS = 12;
const WORKERS = 3;

let test: TestDatabase;
let receiver: Receiver;
const workers: ChildProcess[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  receiver = await startReceiver((_, response) => {
    setTimeout(() => response.end(), Math.random() * 20);
  });
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await receiver.close();
  await test.drop();
});

function startWorker(): ChildProcess {
  const worker = spawn(
    process.execPath,
    [join(import.meta.dirname, 'delivery-worker.ts'), JSON.stringify(test.address)],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  workers.push(worker);
  return worker;
}

/** Checks the order for each endpoint and resource, and counts how often each event arrived. */
function countAndCheckOrder(): { deliveries: Map<string, number> } {
  const deliveries = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { path, id, body } of receiver.hits) {
    deliveries.set(`${path} ${id}`, (deliveries.get(`${path} ${id}`) ?? 0) + 1);
    const key = `${path} ${body.resource_id}`;
    const before = last.get(key) ?? 0;
    expect(body.data.number).toBeGreaterThanOrEqual(before);
    expect(body.data.number).toBeLessThanOrEqual(before + 1);
    last.set(key, body.data.number);
  }
  return { deliveries };
}

it('with processes killed at random during thousands of deliveries every event arrives, in order, and duplicates have the same id', async () => {
  const writePath = createTestWritePath(test.database);
  const customerId = newId();
  const caller = {
    customerId,
    clientId: 'x',
    scopes: new Set<string>(),
    integration: 'FIRST_PARTY',
  } as const;
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const url = `${receiver.url}/${index}`;
    await writePath.submit(createEndpointCommand(caller, { url }));
  }
  const resources = Array.from({ length: RESOURCES }, newId);
  for (let number = 1; number <= STEPS; number += 1) {
    const items = resources.map((resourceId) => ({ resourceId, data: { number } }));
    await writePath.submit(emit(customerId, items));
  }
  await sequence(test.database, 10_000);

  const running = Array.from({ length: WORKERS }, startWorker);
  for (let kill = 0; kill < KILLS; kill += 1) {
    // By progress, not by time: each process delivers something before the next one is killed.
    const hits = receiver.hits.length + 50 + Math.random() * 400;
    await until('deliveries go on', () => receiver.hits.length >= hits);
    const victim = Math.floor(Math.random() * WORKERS);
    running[victim]!.kill('SIGKILL');
    running[victim] = startWorker();
  }
  const hitsAtLastKill = receiver.hits.length;
  const total = ENDPOINTS * RESOURCES * STEPS;
  await until('all are delivered', async () => {
    const [row] = await test.database.query<{ count: number }>(
      `select count(*)::integer as count from webhook_deliveries where status = 'DELIVERED'`,
    );
    await sleep(100);
    return row!.count === total;
  });
  const { deliveries } = countAndCheckOrder();
  expect(deliveries.size).toBe(total);
  expect(hitsAtLastKill).toBeLessThan(total);
  const duplicates = receiver.hits.length - total;
  console.log(
    `${receiver.hits.length} deliveries, ${duplicates} duplicates, ${hitsAtLastKill} at the last kill`,
  );
  // A request that timed out is repeated, and its attempt is recorded. Not recorded are at most those that were in flight when a
  // process died: sixteen for each of its endpoints.
  const [recorded] = await test.database.query<{ attempts: number }>(
    'select sum(attempts)::integer as attempts from webhook_deliveries',
  );
  expect(receiver.hits.length - recorded!.attempts).toBeLessThan(KILLS * ENDPOINTS * 16);
});
