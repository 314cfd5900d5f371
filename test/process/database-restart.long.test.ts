import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { auditEverything } from '../../src/ledger/audit.ts';
import { assets } from '../support/ledger.ts';
import { foundRefIds, startLoad } from '../support/load.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import {
  databaseOf,
  postmasterOf,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';
import { until } from '../support/until.ts';

const dataDir = makePreparedDataDir();
afterAll(() => removeDataDir(dataDir));

it('survives restarts of the database without a restart of its own: 503 in the meantime, nothing lost or doubled', async () => {
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
    await load.untilMore(50);
    const before = postmasterOf(dataDir);
    if (signal === 'SIGTERM') {
      // Frozen for a moment: existing sessions continue, but new connections get no answer.
      process.kill(before, 'SIGSTOP');
      await sleep(500);
      process.kill(before, 'SIGCONT');
    } else {
      process.kill(before, signal);
      await until('another server runs', () => postmasterOf(dataDir) !== before);
    }
    await until('the node is ready', async () => (await readiness()) === 200);
    await load.untilMore(50);
  }
  await load.stop();
  const answer = await fetch(`${ferry.url}/health/ready`);
  expect(answer.status).toBe(200);

  const database = databaseOf(dataDir);
  const found = await foundRefIds(database);
  const report = await auditEverything(database, assets);
  await database.close();
  expect((await ferry.end('SIGTERM')).code).toBe(0);

  expect([...load.statuses.keys()].sort((a, b) => a - b)).toEqual([200, 503]);
  expect([...load.acknowledged].filter((refId) => !found.has(refId))).toEqual([]);
  expect([...found].filter(([, times]) => times !== 1)).toEqual([]);
  expect(report.violations).toEqual([]);
});
