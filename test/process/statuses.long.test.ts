import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FerryProcess, runFerry, sandboxOf, startFerry, tokenFrom } from '../support/process.ts';

/** Disabling and enabling, while two nodes work on one database. */
const dataDir = mkdtempSync(join(tmpdir(), 'ferry-statuses-'));
let test: TestDatabase;
let env: Record<string, string>;
let nodes: FerryProcess[] = [];
let token: string;
let counterpartyToken: string;

beforeAll(async () => {
  test = await createTestDatabase();
  const { socketDir, user, database } = test.address as { socketDir: string; user: string; database: string };
  env = {
    DATABASE_URL: `postgres:///${database}?host=${socketDir}&user=${user}`,
    FERRY_DATA_DIR: dataDir,
    FERRY_PUBLIC_URL: 'http://pay.example',
  };
  nodes = await Promise.all([startFerry(env), startFerry(env)]);
  [token, counterpartyToken] = (await Promise.all(
    customers().map((one) => tokenFrom(nodes[0]!.url, one)),
  )) as [string, string];
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.end('SIGTERM')));
  await test.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

const customers = () => sandboxOf(dataDir).customers;
const [own, savings, theirs] = [
  () => customers()[0]!.profiles[0]!.id,
  () => customers()[0]!.profiles[1]!.id,
  () => customers()[1]!.profiles[0]!.id,
];

async function call(node: FerryProcess, path: string, body?: object, bearer = token, method = 'POST') {
  const response = await fetch(node.url + path, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as any };
}

const transfer = (node: FerryProcess, from: string, to: string, more: object = {}) =>
  call(node, '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    amount: '1',
    ...more,
  });

/** On every node. */
async function everywhere(from: string, to: string, more: object = {}): Promise<number[]> {
  return (await Promise.all(nodes.map((node) => transfer(node, from, to, more)))).map(({ status }) => status);
}

async function set(noun: 'profile' | 'identity', verb: 'disable' | 'enable', id: string): Promise<void> {
  expect(await runFerry([noun, verb, id], env)).toEqual({
    code: 0,
    stderr: '',
    stdout: `${verb === 'disable' ? 'Disabled' : 'Enabled'} ${id}.\n`,
  });
}

const usdOf = (profile: string) =>
  test.database.query<{ available: bigint }>(
    `select available from balances where profile_id = $1 and asset = 'USD'`,
    [profile],
  );

describe('a disabled profile', () => {
  afterEach(async () => {
    await set('profile', 'enable', own());
    await set('profile', 'enable', savings());
  });

  it('moves nothing once the command has ended, on any node, however busy the nodes are', async () => {
    const ending = new AbortController();
    const answers = new Map<number, number>();
    const busy = Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 8 }, async () => {
          while (!ending.signal.aborted) {
            const { status } = await transfer(node, own(), theirs());
            answers.set(status, (answers.get(status) ?? 0) + 1);
          }
        }),
      ),
    );
    // Awaited below; until then a failed call must not be an unhandled rejection.
    busy.catch(() => undefined);
    try {
      await expect.poll(() => answers.get(200)).toBeGreaterThan(100);
      await set('profile', 'disable', own());
      const atOnce = await usdOf(own());
      const refused = answers.get(403) ?? 0;
      await expect.poll(() => answers.get(403)).toBeGreaterThan(refused + 200);
      expect(await usdOf(own())).toEqual(atOnce);
    } finally {
      ending.abort();
    }
    await busy;
    // A node may be too busy to execute anything (503); there is no other refusal.
    expect(new Set([...answers.keys(), 503])).toEqual(new Set([200, 403, 503]));
    expect(await everywhere(own(), theirs())).toEqual([403, 403]);
    expect(await everywhere(savings(), own())).toEqual([403, 403]);
    expect(await everywhere(savings(), theirs())).toEqual([200, 200]);
  });

  it('is not reported as disabled before everything in flight has ended', async () => {
    const connection = await test.database.reserve();
    await connection.query('begin');
    await connection.query('select pg_current_xact_id()');
    let isSaid = false;
    const said = set('profile', 'disable', savings()).then(() => {
      isSaid = true;
    });
    said.catch(() => undefined);
    // The command has changed the row, and polls for the transactions in flight.
    const looks = new Set<number>();
    await expect
      .poll(async () => {
        const rows = await test.database.query<{ at: number }>(
          `select extract(epoch from query_start)::float8 as at from pg_stat_activity
           where datname = current_database() and query like '%pg_snapshot_xmin%' and pid <> pg_backend_pid()`,
        );
        for (const { at } of rows) looks.add(at);
        return looks.size;
      })
      .toBeGreaterThan(5);
    expect(isSaid).toBe(false);
    const status = await test.database.query('select status from profiles where id = $1', [savings()]);
    expect(status).toEqual([{ status: 'DISABLED' }]);
    await connection.query('commit');
    connection.release();
    await said;
  });

  it('cannot withdraw or settle anything new, and its deposits are kept in suspense', async () => {
    const [node] = nodes;
    await set('profile', 'disable', own());
    const withdrawal = { profile_id: own(), fiat_account_id: customers()[0]!.fiat_account_id };
    const refused = await call(node!, '/v2/transfer/fiat-withdrawals', {
      ...withdrawal,
      asset: 'USD',
      amount: '50',
    });
    expect(refused).toMatchObject({ status: 403, body: { meta: { profile_id: own() } } });
    const settlement = {
      source_profile_id: theirs(),
      target_profile_id: own(),
      legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
    };
    // To another customer it does not exist.
    expect((await call(node!, '/v2/settlement/transactions', settlement, counterpartyToken)).status).toBe(
      404,
    );

    const way = { profile_id: own(), crypto_network: 'BITCOIN' };
    expect((await call(node!, '/v2/transfer/deposit-addresses', way)).status).toBe(403);
    await set('profile', 'enable', own());
    const { address } = (await call(node!, '/v2/transfer/deposit-addresses', way)).body;
    await set('profile', 'disable', own());
    const arrived = await call(node!, '/v2/sandbox/crypto-deposits', {
      crypto_network: 'BITCOIN',
      address,
      asset: 'BTC',
      amount: '1',
    });
    expect(arrived.body).toMatchObject({ suspense_deposit: { amount: '1' } });
    expect(arrived.body).not.toHaveProperty('transfer');
  });

  it('works again when it is enabled, and the command supports JSON output', async () => {
    await set('profile', 'disable', own());
    expect(await everywhere(own(), theirs())).toEqual([403, 403]);
    const { stdout } = await runFerry(['profile', 'enable', own(), '--json'], env);
    expect(JSON.parse(stdout)).toEqual({ profile_id: own(), disabled: false, in_force: true });
    expect(await everywhere(own(), theirs())).toEqual([200, 200]);
  });
});

describe('a settlement transaction whose profile was disabled later', () => {
  const PATH = '/v2/settlement/transactions';
  const offer = async (amount: string, window: object = {}): Promise<string> => {
    const legs = [{ direction: 'DELIVER', asset: 'USD', amount }];
    const parties = { source_profile_id: own(), target_profile_id: theirs() };
    const made = await call(nodes[0]!, PATH, { ...parties, legs, ...window });
    expect(made.status).toBe(200);
    return made.body.id;
  };
  const affirm = (node: FerryProcess, id: string) =>
    call(node, `${PATH}/${id}/affirm`, undefined, counterpartyToken, 'PUT');
  const read = async (id: string, bearer = counterpartyToken) =>
    (await call(nodes[1]!, `${PATH}/${id}`, undefined, bearer, 'GET')).body;

  it('cannot be affirmed on any node, nor settle if it was affirmed, until the profile is enabled again', async () => {
    const start = new Date(Date.now() + 3_600_000).toISOString();
    const affirmed = await offer('1', { settlement_window_start: start });
    expect((await affirm(nodes[1]!, affirmed)).status).toBe(200);
    const offered = await offer('2');
    await set('profile', 'disable', own());
    for (const node of nodes) {
      const refused = await affirm(node, offered);
      expect(refused).toMatchObject({
        status: 409,
        body: { type: expect.stringMatching(/invalid-state$/), meta: { status: 'PENDING' } },
      });
    }
    await test.database.query(
      'update settlement_transactions set window_start_ns = created_at_ns where id = $1',
      [affirmed],
    );
    const why = async (bearer: string) => (await read(affirmed, bearer)).secondary_status;
    await expect
      .poll(() => why(counterpartyToken))
      .toEqual({
        name: 'AWAITING_PARTY',
        detail: 'A party to the transaction cannot settle at the moment.',
      });
    // Both parties get the same status.
    expect(await why(token)).toEqual(await why(counterpartyToken));
    expect((await read(affirmed)).status).toBe('AFFIRMED');
    await set('profile', 'enable', own());
    await expect.poll(async () => (await read(affirmed)).status).toBe('SETTLED');
    expect((await affirm(nodes[1]!, offered)).status).toBe(200);
    await expect.poll(async () => (await read(offered)).status).toBe('SETTLED');
  });
});

describe('a disabled identity', () => {
  it('cannot act on any node, neither by its id nor by its account, until it is enabled again', async () => {
    const { identity_id, account_id } = customers()[0]!;
    const read = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${nodes[1]!.url}/v2/identity/identities/${identity_id}`, { headers });
      return (await response.json()) as { status: string; updated_at: string };
    };
    const before = await read();
    const byName = { from_identity_id: identity_id };
    const byAccount = { from_account_id: account_id };
    for (const named of [byName, byAccount]) {
      expect(await everywhere(own(), theirs(), named)).toEqual([200, 200]);
    }
    await set('identity', 'disable', identity_id);
    for (const named of [byName, byAccount]) {
      expect(await everywhere(own(), theirs(), named)).toEqual([403, 403]);
    }
    const disabled = await read();
    expect(disabled.status).toBe('DISABLED');
    expect(disabled.updated_at > before.updated_at).toBe(true);
    // A second call changes nothing. Its profiles are not disabled with it.
    await set('identity', 'disable', identity_id);
    expect(await read()).toEqual(disabled);
    expect(await everywhere(own(), theirs())).toEqual([200, 200]);
    await set('identity', 'enable', identity_id);
    for (const named of [byName, byAccount]) {
      expect(await everywhere(own(), theirs(), named)).toEqual([200, 200]);
    }
  });
});
