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
import { rounds } from '../support/rounds.ts';
import { unlockAsSandbox } from '../support/vault.ts';

const dataDir = makePreparedDataDir();
afterAll(() => removeDataDir(dataDir));

const ROUNDS = rounds(2, 20);
const BULK = 5;

it('loses and doubles nothing when it is killed in the middle of a load, again and again', async () => {
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
    const [customer, counterparty] = sandboxOf(dataDir).customers;
    const load = startLoad({
      url: ferry.url,
      token: await tokenFrom(ferry.url, customer!),
      from: customer!.profiles[0]!.id,
      to: counterparty!.profiles[0]!.id,
      writers: 16,
      bulkOf: BULK,
      prefix: `round-${round}`,
    });
    // Triggered by the amount of load, not by the time since the start.
    await load.untilMore(11 + Math.floor(Math.random() * 200));
    // Every other time the database is killed as well, at the same moment, and has to recover.
    const postmaster = postmasterOf(dataDir);
    if (round % 2 === 1) process.kill(postmaster, 'SIGKILL');
    await ferry.end('SIGKILL');
    await load.stop();
    for (const refId of load.acknowledged) acknowledged.add(refId);
    for (const refId of [...load.acknowledged, ...load.undecided]) sent.add(refId);
  }
  const ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  const database = databaseOf(dataDir);
  const found = await foundRefIds(database);
  const report = await auditEverything(await unlockAsSandbox(database), assets);
  await database.close();
  await ferry.end('SIGTERM');

  expect(acknowledged.size).toBeGreaterThan(ROUNDS * 10);
  expect([...acknowledged].filter((refId) => !found.has(refId))).toEqual([]);
  expect([...found].filter(([refId, times]) => times !== 1 && sent.has(refId))).toEqual([]);
  const parts = Map.groupBy(
    [...found.keys()].filter((refId) => refId.includes('+')),
    (refId) => refId.replace(/\+.*/, ''),
  );
  expect(parts.size).toBeGreaterThan(ROUNDS);
  expect([...parts.values()].filter(({ length }) => length !== BULK)).toEqual([]);
  expect(report.violations).toEqual([]);
}, 900_000);
