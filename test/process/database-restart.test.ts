import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { audit } from '../../src/ledger/audit.ts';
import { assets } from '../support/ledger.ts';
import { foundRefIds, startLoad } from '../support/load.ts';
import {
  databaseOf,
  makeDataDir,
  postmasterOf,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';

const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not happen within 20 seconds');
    await sleep(10);
  }
}

it('survives restarts of the database: 503 meanwhile, nothing lost or doubled, and no restart of its own', async () => {
  const ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const load = startLoad({
    url: ferry.url,
    token: await tokenFrom(ferry.url, customer!),
    from: customer!.profiles[0]!.id,
    to: counterparty!.profiles[0]!.id,
    writers: 16,
    prefix: 'restart',
  });
  const readiness = async (): Promise<number> => (await fetch(`${ferry.url}/health/ready`)).status;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGTERM'] as const) {
    await sleep(300);
    const before = postmasterOf(dataDir);
    const sizeBefore = load.acknowledged.size;
    if (signal === 'SIGTERM') {
      // Frozen: the database is there and does not answer. Longer than a request may wait for it.
      process.kill(before, 'SIGSTOP');
      await sleep(500);
      process.kill(before, 'SIGCONT');
    } else {
      process.kill(before, signal);
      await until(async () => (await readiness()) === 503);
    }
    await until(async () => (await readiness()) === 200);
    await until(async () => load.acknowledged.size > sizeBefore + 50);
  }
  await load.stop();
  const answer = await fetch(`${ferry.url}/health/ready`);
  expect(answer.status).toBe(200);

  const database = databaseOf(dataDir);
  const found = await foundRefIds(database);
  const report = await audit(database, assets);
  await database.close();
  expect((await ferry.end('SIGTERM')).code).toBe(0);

  expect([...load.statuses.keys()].sort((a, b) => a - b)).toEqual([200, 503]);
  expect([...load.acknowledged].filter((refId) => !found.has(refId))).toEqual([]);
  expect([...found].filter(([, times]) => times !== 1)).toEqual([]);
  expect(report.violations).toEqual([]);
}, 120_000);
