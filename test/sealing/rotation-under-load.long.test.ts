import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { assemble, type Service } from '../../src/main.ts';
import { openVault } from '../../src/sealing/data-keys.ts';
import { localWrappingKey } from '../../src/sealing/wrapping.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { request as fiatAccount } from '../support/fiat-accounts.ts';
import { assets, createTestWritePath, fund } from '../support/ledger.ts';
import { makeDataDir, removeDataDir, runFerry, urlOf } from '../support/process.ts';
import { PRODUCTION } from '../support/production.ts';
import { until } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';

const OLD = randomBytes(32).toString('base64');
const NEW = randomBytes(32).toString('base64');
const dataDir = makeDataDir();

let test: TestDatabase;
let credentials: { clientId: string; clientSecret: string };
const profiles = [newId(), newId()] as const;
beforeAll(async () => {
  test = await createTestDatabase();
  const customer = await createCustomer(test.database, { name: 'Load', integration: 'FIRST_PARTY' });
  const vault = await openVault(test.database, [localWrappingKey(Buffer.from(OLD, 'base64'))]);
  const request = { customer: customer.id, name: 'x', scopes: SCOPE_NAMES };
  credentials = await createClient(test.database, vault, request);
  for (const id of profiles)
    await test.database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, $3, 'NORMAL', 0)`,
      [id, customer.id, `profile ${id}`],
    );
  const path = createTestWritePath(test.database);
  await path.submit(fund(profiles[0], 'USD', 100_000_000n));
  await path.stop();
});
afterAll(async () => {
  await removeDataDir(dataDir);
  await test.drop();
});

type Environment = Record<string, string>;
type Node = { readonly service: Service; readonly database: Database; inFlight: number };

async function startNode(keys: Environment): Promise<Node> {
  const database = connectUnlocked(test.address);
  const config = readConfig({ ...PRODUCTION, PORT: '0', ...keys });
  const service = await assemble({ config, database, logger: pino({ level: 'silent' }) });
  await service.start();
  return { service, database, inFlight: 0 };
}

/** Two nodes behind a load balancer: a node gets no new requests before it is stopped. */
function createBalancer() {
  const nodes: Node[] = [];
  let turn = 0;
  return {
    nodes,
    async send(path: string, options: RequestInit): Promise<Response> {
      turn += 1;
      const node = nodes[turn % nodes.length]!;
      node.inFlight += 1;
      try {
        const response = await fetch(node.service.url() + path, options);
        await response.clone().arrayBuffer();
        return response;
      } finally {
        node.inFlight -= 1;
      }
    },
    async replace(old: Node | undefined, keys: Environment): Promise<void> {
      nodes.push(await startNode(keys));
      if (old === undefined) return;
      nodes.splice(nodes.indexOf(old), 1);
      await until('its requests are answered', () => old.inFlight === 0);
      await old.service.stop();
      await old.database.close();
    },
  };
}

it('the key, the data keys and the signing key are replaced under load without one failed request', async () => {
  const balancer = createBalancer();
  const [old, both, only] = [
    { FERRY_SECRET_KEY: OLD },
    { FERRY_SECRET_KEY: NEW, FERRY_SECRET_KEY_PREVIOUS: OLD },
    { FERRY_SECRET_KEY: NEW },
  ];
  for (let count = 0; count < 2; count += 1) await balancer.replace(undefined, old);
  const statuses = new Map<string, number>();
  const over = new AbortController();
  let sent = 0;

  async function token(): Promise<string> {
    const { clientId, clientSecret } = credentials;
    const response = await balancer.send('/oauth2/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  /** Transfers, which store digests, and accounts, which are sealed; one account is read as often as it is written. */
  async function load(): Promise<void> {
    let bearer = await token();
    let accountId: string | undefined;
    for (let count = 0; !over.signal.aborted; count += 1) {
      if (count % 50 === 49) bearer = await token();
      const [from, to] = count % 2 === 0 ? profiles : profiles.toReversed();
      const transfer = {
        from_profile_id: from,
        to_profile_id: to,
        asset: 'USD',
        amount: '0.01',
        ref_id: newId(),
      };
      const [method, path, body] =
        count % 10 === 8
          ? ['POST', '/v2/transfer/fiat-accounts', { ...fiatAccount, ref_id: newId() }]
          : count % 10 === 9
            ? ['GET', `/v2/transfer/fiat-accounts/${accountId}`, undefined]
            : ['POST', '/v2/transfer/platform', transfer];
      const response = await balancer.send(path, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as { id: string };
      if (count % 10 === 8) accountId = answer.id;
      const kind = `${path.split('/').at(3)} ${response.status}`;
      statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
      sent += 1;
    }
  }

  const enough = async (): Promise<void> => {
    const before = sent;
    await until('requests have passed', () => sent >= before + 100);
  };
  const loads = Promise.all(Array.from({ length: 6 }, load));
  const command = (...args: string[]) =>
    runFerry(args, { ...PRODUCTION, ...both, DATABASE_URL: urlOf(test.address), FERRY_DATA_DIR: dataDir });
  try {
    await enough();
    for (const node of balancer.nodes.slice()) await balancer.replace(node, both);
    await enough();
    expect(await command('key', 'rewrap')).toMatchObject({ code: 0, stdout: 'Rewrapped 1 data key.\n' });
    expect(await command('key', 'rotate')).toMatchObject({ code: 0 });
    await enough();
    for (const node of balancer.nodes.slice()) await balancer.replace(node, only);
    await enough();
  } finally {
    over.abort();
    await loads;
    for (const { service, database } of balancer.nodes) {
      await service.stop();
      await database.close();
    }
  }
  expect(sent).toBeGreaterThan(400);
  expect([...statuses.keys()].sort()).toEqual(['fiat-accounts 200', 'platform 200']);
  expect((await auditEverything(test.database, assets, ENTRY_CHECKS)).violations).toEqual([]);
  await expect(startNode(old)).rejects.toThrow(ConfigError);
});
