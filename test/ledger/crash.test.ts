import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { migrate } from '../../src/database/migrate.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { auditLines, fund, problemOf, startNode, withKey } from '../support/ledger.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import { removeDataDir } from '../support/process.ts';
import { until } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';
import { startProxy } from './proxy.ts';

/** The server loses what it had not written yet, and assigns the number of a lost transaction again. */
function crash(postmaster: number): void {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  for (const pid of [postmaster, ...children.split(' ').filter(Boolean).map(Number)]) {
    process.kill(pid, 'SIGKILL');
  }
}

async function nextXid(database: Database): Promise<bigint> {
  const [row] = await database.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  return BigInt(row!.xid);
}

it('a batch that a crash undid is not taken for committed when another transaction has its number', async () => {
  const dataDir = makePreparedDataDir();
  // Only what a commit waits for reaches the disk.
  const settings = { wal_writer_delay: '10s', autovacuum: 'off' };
  const server = await startEmbedded({ dataDir, log: () => undefined, settings });
  const { socketDir, port, user } = server;
  const address = { socketDir, port, user, database: 'postgres' };
  const database = connectUnlocked(address, 1);
  await migrate(database);
  const proxy = await startProxy(address);
  const node = startNode(proxy.address);
  const alice = newId();
  const customerId = newId();
  await node.path.submit(fund(alice, 'USD', 5n));
  const before = await nextXid(database);

  proxy.failNextCommit({ kind: 'never-sent' });
  const command = withKey(fund(alice, 'USD', 100n), { customerId, refId: 'lost' });
  const problem = problemOf(node.path.submit(command));
  await until('the commit was cut off', () => proxy.failed > 0, 1);
  crash(server.pid);
  // The write path cannot ask before another transaction has the number.
  await proxy.close();
  await until('the server answers', async () => (await database.query('select 1')).length === 1);
  const after = await nextXid(database);
  const lost = before + 1n;
  expect(after).toBeLessThanOrEqual(lost);
  while ((await nextXid(database)) <= lost);
  const [status] = await database.query('select pg_xact_status($1::xid8) as status', [String(lost)]);
  expect(status).toEqual({ status: 'committed' });

  const back = await startProxy(address, 'socketDir' in proxy.address ? proxy.address.socketDir : undefined);
  expect((await problem).message).toBe(
    'The connection to the database was lost before the commit. Nothing was executed; retry.',
  );
  expect((await balancesOf(database, alice))[0]?.available).toBe(5n);
  expect(await node.path.submit(command)).toMatchObject({ replayed: false });
  expect((await balancesOf(database, alice))[0]?.available).toBe(105n);
  expect(await auditLines(database)).toEqual([]);

  await node.stop();
  await back.close();
  await database.close();
  await server.stop();
  await removeDataDir(dataDir);
});
