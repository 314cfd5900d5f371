import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type FerryProcess,
  logOf,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';
import { type Pair, type Server, startPair } from '../support/standby.ts';

/** One address in front of both servers, like a DNS name or a virtual address that moves at a failover. */
const place = mkdtempSync(join(tmpdir(), 'ferry-failover-'));
function pointTo({ address: { socketDir, port } }: Server): void {
  const name = `.s.PGSQL.${port}`;
  symlinkSync(join(socketDir, name), join(place, 'next'));
  renameSync(join(place, 'next'), join(place, name));
}

let pair: Pair;
const nodes: FerryProcess[] = [];
beforeAll(async () => {
  pair = await startPair();
  pointTo(pair.primary);
});
afterAll(async () => {
  for (const node of nodes) if (node.child.exitCode === null) await node.end('SIGKILL');
  await pair.close();
  rmSync(place, { recursive: true, force: true });
});

const STANDBY =
  /^The database server is a standby and accepts no writes: connect Ferry to the primary\. Retry with the same ref_id\.$/;

it('a node treats a standby as an unavailable database, and recovers by itself when it is promoted', async () => {
  const { primary, standby } = pair;
  const dataDir = join(place, 'data');
  const env = {
    DATABASE_URL: urlOf({ ...primary.address, socketDir: place }),
    FERRY_DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
  };
  const node = await startFerry(env);
  nodes.push(node);
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const token = await tokenFrom(node.url, customer!);
  const transfer = async (refId: string): Promise<number> => {
    const response = await fetch(`${node.url}/v2/transfer/platform`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from_profile_id: customer!.profiles[0]!.id,
        to_profile_id: counterparty!.profiles[0]!.id,
        asset: 'USD',
        amount: '1',
        ref_id: refId,
      }),
    });
    await response.text();
    return response.status;
  };
  const readiness = async (): Promise<{ status: number; detail?: string }> => {
    const response = await fetch(`${node.url}/health/ready`);
    const { detail } = (await response.json()) as { detail?: string };
    return { status: response.status, ...(detail !== undefined && { detail }) };
  };
  expect(await transfer('before')).toBe(200);

  const copied = "select from transfers where ref_id = 'before' and direction = 'DEBIT'";
  await expect.poll(() => standby.database.query(copied)).toHaveLength(1);
  // The full proof runs on the standby, which stays one meanwhile.
  const verify = (...args: string[]) =>
    runFerry(['verify', ...args], { ...env, DATABASE_URL: urlOf(standby.address) });
  for (const args of [[], ['--full']]) {
    const verified = await verify(...args);
    expect({ args, ...verified }).toEqual({
      args,
      code: 0,
      stderr: expect.any(String),
      stdout: expect.stringContaining('is sound'),
    });
  }
  pointTo(standby);
  await primary.kill();
  await expect.poll(readiness).toEqual({ status: 503, detail: expect.stringMatching(STANDBY) });
  const statuses = new Set<number>();
  for (let count = 0; count < 20; count += 1) statuses.add(await transfer(`during-${count}`));
  expect([...statuses]).toEqual([503]);

  // A command fails at once. A node that starts now waits.
  expect(await runFerry(['customer', 'list'], env)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'DATABASE_URL: the database is not available: the server is a standby, but Ferry needs the primary.\n',
  });
  const starting = startFerry({ ...env, FERRY_DATA_DIR: join(place, 'second') });
  // Awaited below; until then a failed start must not be an unhandled rejection.
  starting.catch(() => undefined);

  await pair.promote();
  await expect.poll(readiness).toEqual({ status: 200 });
  expect(await transfer('during-0')).toBe(200);
  expect(await transfer('after')).toBe(200);
  const second = await starting;
  nodes.push(second);
  expect((await fetch(`${second.url}/health/ready`)).status).toBe(200);
  // The log has only the outage.
  expect(logOf(node).filter(({ level }) => level >= 50)).toEqual([]);
  for (const one of nodes) expect((await one.end('SIGTERM')).code).toBe(0);
});
