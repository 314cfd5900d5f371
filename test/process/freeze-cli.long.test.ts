import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FerryProcess, runFerry, sandboxOf, startFerry, tokenFrom } from '../support/process.ts';

/** The kill switch, while two nodes work on one database. */
const dataDir = mkdtempSync(join(tmpdir(), 'ferry-freezes-'));
let test: TestDatabase;
let env: Record<string, string>;
let nodes: FerryProcess[] = [];
let token: string;

beforeAll(async () => {
  test = await createTestDatabase();
  const { socketDir, user, database } = test.address as { socketDir: string; user: string; database: string };
  env = {
    DATABASE_URL: `postgres:///${database}?host=${socketDir}&user=${user}`,
    FERRY_DATA_DIR: dataDir,
    FERRY_PUBLIC_URL: 'http://pay.example',
  };
  nodes = await Promise.all([startFerry(env), startFerry(env)]);
  token = await tokenFrom(nodes[0]!.url, customers()[0]!);
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.end('SIGTERM')));
  await test.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

const customers = () => sandboxOf(dataDir).customers;
const own = () => customers()[0]!.profiles[0]!.id;

async function everywhere(): Promise<number[]> {
  const body = {
    from_profile_id: own(),
    to_profile_id: customers()[1]!.profiles[0]!.id,
    asset: 'USD',
    amount: '1',
  };
  return Promise.all(
    nodes.map(async ({ url }) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/v2/transfer/platform`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
}

it.each(['platform', 'profile'])(
  'ferry freeze %s stops every node, and ferry unfreeze resumes',
  async (scope) => {
    const subject = scope === 'platform' ? [scope] : [scope, own()];
    const name = scope === 'platform' ? 'the platform' : `profile ${own()}`;
    expect(await everywhere()).toEqual([200, 200]);
    const froze = await runFerry(['freeze', ...subject, '--reason', 'CASE-1'], env);
    expect(froze).toMatchObject({ code: 0, stderr: '' });
    expect(froze.stdout).toMatch(new RegExp(`^Froze ${name}: freeze [0-9a-f-]{36}\\.\n$`));
    expect(await everywhere()).toEqual([403, 403]);
    const listed = JSON.parse((await runFerry(['freeze', 'list', '--json'], env)).stdout);
    expect(listed.freezes).toMatchObject([
      { scope: scope.toUpperCase(), reason: 'CASE-1', frozen_by: expect.stringMatching(/^cli:/) },
    ]);
    const lifted = await runFerry(['unfreeze', ...subject, '--reason', 'CASE-1', '--json'], env);
    expect(JSON.parse(lifted.stdout)).toMatchObject({
      status: 'LIFTED',
      lifted_by: expect.stringMatching(/^cli:/),
    });
    expect(await everywhere()).toEqual([200, 200]);
    expect((await runFerry(['freeze', 'list'], env)).stdout).toBe('Nothing is frozen.\n');
  },
);

it.each([
  [['freeze'], 2, 'Expected one of platform, customer, identity, profile.'],
  [['freeze', 'profile'], 2, 'Expected one profile_id.'],
  [['freeze', 'platform', '--reason', ''], 2, '--reason is required.'],
  [['freeze', 'customer', 'x', '--reason', 'y'], 1, 'There is no customer with the id "x".'],
  [['unfreeze', 'platform', '--reason', 'y'], 1, 'No freeze of the platform is in force.'],
])('ferry %j exits with %i and says why', async (args, code, sentence) => {
  const ended = await runFerry(args, env);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(sentence);
});
