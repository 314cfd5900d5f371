import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import { type FerryProcess, runFerry, sandboxOf, startFerry, tokenFrom, urlOf } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const OPERATIONS = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
const suffix = `_${process.pid}`;
const [owner, serve, name] = [`ferry_owner${suffix}`, `ferry_serve${suffix}`, `ferry_two_roles${suffix}`];

/** The statements of the guide, with names that only this test has. */
const [, guide] = /### Two roles[\s\S]*?```sql\n([\s\S]*?)```/.exec(OPERATIONS)!;
const statements = guide!
  .replaceAll(/ *--.*$/gm, '')
  .replaceAll(/\bferry_(owner|serve)\b/g, `ferry_$1${suffix}`)
  .replace('create database ferry ', `create database ${name} `)
  .split(';')
  .map((one) => one.trim())
  .filter((one) => one !== '');

const postgres = inject('postgres');
const addressOf = (user: string, database = name): DatabaseAddress => ({ ...postgres, user, database });
const dataDir = mkdtempSync(join(tmpdir(), 'ferry-roles-'));
const env = { DATABASE_URL: urlOf(addressOf(serve)), FERRY_DATA_DIR: dataDir };
const asOwner = { ...env, FERRY_MIGRATE_DATABASE_URL: urlOf(addressOf(owner)) };

let administration: Database;
let receiver: Receiver;
beforeAll(async () => {
  administration = connectDatabase({ ...postgres, database: 'postgres' }, 1);
  receiver = await startReceiver();
  const last = statements.pop()!;
  for (const statement of statements) await administration.query(statement);
  const inside = connectDatabase(addressOf(postgres.user), 1);
  await inside.query(last);
  await inside.close();
});
afterAll(async () => {
  await receiver.close();
  await administration.query(`drop database ${name} with (force)`);
  for (const role of [owner, serve]) await administration.query(`drop role ${role}`);
  await administration.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function useAll(node: FerryProcess): Promise<void> {
  const [customer, other] = sandboxOf(dataDir).customers;
  const token = await tokenFrom(node.url, customer!);
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(node.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as any;
    expect({ path, status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  };
  const [profile, second] = customer!.profiles.map(({ id }) => id);
  await call('POST', '/v2/events/webhooks', { url: receiver.url, event_types: ['transfer.*'] });
  const move = { asset: 'USD', amount: '5' };
  const to = { from_profile_id: profile, to_profile_id: other!.profiles[0]!.id };
  await call('POST', '/v2/transfer/platform', { ...to, ...move });
  await call('POST', '/v2/transfer/internal', { from_profile_id: profile, to_profile_id: second, ...move });
  const account = customer!.fiat_account_id;
  const paid = { profile_id: profile, fiat_account_id: account, ...move };
  const { id } = await call('POST', '/v2/transfer/fiat-withdrawals', paid);
  await expect.poll(async () => (await call('GET', `/v2/transfer/transfers/${id}`)).status).toBe('COMPLETED');
  await call('DELETE', `/v2/transfer/fiat-accounts/${account}`);
  const legs = [{ direction: 'DELIVER', asset: 'USD', amount: '1' }];
  const parties = { source_profile_id: profile, target_profile_id: other!.profiles[0]!.id };
  const settlement = await call('POST', '/v2/settlement/transactions', { ...parties, legs });
  const affirmed = await fetch(`${node.url}/v2/settlement/transactions/${settlement.id}/affirm`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await tokenFrom(node.url, other!)}` },
  });
  expect(affirmed.status).toBe(200);
  await expect
    .poll(async () => (await call('GET', `/v2/settlement/transactions/${settlement.id}`)).status)
    .toBe('SETTLED');
  await expect.poll(() => receiver.hits.length).toBeGreaterThan(2);
}

describe('two roles, created with the statements of the operations guide', () => {
  it('before the owner has migrated, a node says what to do', async () => {
    const started = await startFerry(env).catch(String);
    expect(started).toContain('the role that owns');
    expect((await runFerry(['customer', 'list'], env)).stderr).toMatch(/run "ferry migrate"/);
  });

  it('the owner migrates, and grants to the role that serves', async () => {
    const plan = await runFerry(['migrate', '--plan', '--serve-role', serve], asOwner);
    expect(plan.stdout).toMatch(
      new RegExp(
        `Would apply, each in one transaction:\\n0001_[\\s\\S]*\\nWould grant the rights of the serving role to ${serve}\\.\\n$`,
      ),
    );
    const migrated = await runFerry(['migrate', '--serve-role', serve, '--json'], asOwner);
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(migrated.stdout)).toMatchObject({
      applied: expect.arrayContaining(['0001_ledger.sql']),
      serving_role: serve,
    });
    // From now on the role is known.
    expect((await runFerry(['migrate', '--plan'], asOwner)).stdout).toBe(
      `The schema is up to date.\nWould grant the rights of the serving role to ${serve}.\n`,
    );
    expect((await runFerry(['migrate'], asOwner)).stdout).toBe(
      `The schema is up to date.\nGranted the rights of the serving role to ${serve}.\n`,
    );
  });

  it('a node with everything in it runs as the role that serves, and is sound', async () => {
    const node = await startFerry({ ...env, FERRY_SANDBOX_SPEED: '100000' });
    try {
      await useAll(node);
      const rows = await administration.query(
        `select distinct usename as user from pg_stat_activity where datname = $1 and application_name = 'ferry-node'`,
        [name],
      );
      expect(rows).toEqual([{ user: serve }]);
    } finally {
      expect((await node.end('SIGTERM')).code).toBe(0);
    }
    const level = node.output().match(/"level":[456]0.*/g) ?? [];
    expect(level).toEqual([]);
    expect(await runFerry(['verify'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('sound'),
    });
  });

  it('the commands work as the role that serves, apart from the one that changes entries', async () => {
    for (const args of [
      ['customer', 'create', '--name', 'Third'],
      ['client', 'create', '--customer', 'Third', '--name', 'x'],
      ['key', 'rotate'],
      ['key', 'rewrap'],
      ['profile', 'disable', sandboxOf(dataDir).customers[0]!.profiles[0]!.id],
      ['profile', 'enable', sandboxOf(dataDir).customers[0]!.profiles[0]!.id],
      ['identity', 'disable', sandboxOf(dataDir).customers[0]!.identity_id],
      ['identity', 'enable', sandboxOf(dataDir).customers[0]!.identity_id],
      ['repair-instants'],
    ]) {
      const { code, stderr } = await runFerry(args, env);
      expect({ args, code, stderr }).toMatchObject({ code: 0 });
    }
    expect(await runFerry(['repair-instants', '--yes'], env)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The database refused it: permission denied for table balances. If another role than that of DATABASE_URL owns the tables, set FERRY_MIGRATE_DATABASE_URL.\n',
    });
    expect(await runFerry(['repair-instants', '--yes'], asOwner)).toMatchObject({ code: 0 });
  });

  it('the owner may end connections of the role that serves, as a migration does with frozen nodes', async () => {
    const [migrator, node] = [connectDatabase(addressOf(owner), 1), connectDatabase(addressOf(serve), 1)];
    const [row] = await node.query<{ pid: number }>('select pg_backend_pid() as pid');
    expect(await migrator.query('select pg_terminate_backend($1) as ended', [row!.pid])).toEqual([
      { ended: true },
    ]);
    await Promise.all([migrator.close(), node.close()]);
  });
});
