import { randomBytes, scryptSync } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addKeys, addSecret, listSecrets, removeKey, removeSecret } from '../../src/auth/credentials.ts';
import { createScryptChecker } from '../../src/auth/scrypt-secrets.ts';
import { createHashSecret } from '../../src/auth/secrets.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Vault } from '../../src/sealing/vault.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { databaseBefore } from '../support/migrations.ts';
import { until } from '../support/until.ts';
import { testVault } from '../support/vault.ts';
import { type AuthNode, newTestClient, postToken, startAuthNode, type TestClient } from './auth-nodes.ts';

let test: TestDatabase;
let node: AuthNode;
let vault: Vault;
beforeAll(async () => {
  test = await createTestDatabase();
  vault = testVault;
  node = await startAuthNode(test.database);
});
afterAll(async () => {
  await node.stop();
  await test.drop();
});

const grant = { grant_type: 'client_credentials' };

async function login(clientId: string, clientSecret: string, url = node.url): Promise<number> {
  const answer = await postToken(url, { ...grant, client_id: clientId, client_secret: clientSecret });
  await answer.text();
  return answer.status;
}

const onlySecretOf = async ({ clientId }: TestClient): Promise<string> => {
  const [secret] = await listSecrets(test.database, clientId);
  return secret!.id;
};

describe('a client', () => {
  it('has two secrets while one replaces the other, and never three', async () => {
    const client = await newTestClient(test.database);
    const { clientId, clientSecret } = client;
    const old = await onlySecretOf(client);
    const added = await addSecret(test.database, vault, clientId);
    expect(added.clientSecret).toMatch(/^ferry_secret_[A-Za-z0-9_-]{43}$/);
    expect([await login(clientId, clientSecret), await login(clientId, added.clientSecret)]).toEqual([
      200, 200,
    ]);
    await expect(addSecret(test.database, vault, clientId)).rejects.toThrow(
      `The client has 2 secrets, which is the maximum. Remove one of them first: ${old}, ${added.id}.`,
    );
    await removeSecret(test.database, clientId, old);
    expect([await login(clientId, clientSecret), await login(clientId, added.clientSecret)]).toEqual([
      401, 200,
    ]);
    expect(await listSecrets(test.database, clientId)).toEqual([
      { id: added.id, createdAtNs: expect.any(BigInt), expiresAtNs: null },
    ]);
  });

  it('never gets a third secret from commands that run at the same time', async () => {
    const { clientId } = await newTestClient(test.database);
    const added = await Promise.allSettled(
      Array.from({ length: 5 }, () => addSecret(test.database, vault, clientId)),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await listSecrets(test.database, clientId)).toHaveLength(2);
  });

  it('keeps its last valid credential unless the removal is forced', async () => {
    const client = await newTestClient(test.database);
    const { clientId, clientSecret } = client;
    const id = await onlySecretOf(client);
    await expect(removeSecret(test.database, clientId, id)).rejects.toThrow(/--force/);
    expect(await login(clientId, clientSecret)).toBe(200);
    const jwk = await exportJWK((await generateKeyPair('ES256')).publicKey);
    const [kid] = await addKeys(test.database, clientId, JSON.stringify(jwk));
    await removeSecret(test.database, clientId, id);
    expect(await login(clientId, clientSecret)).toBe(401);
    await expect(removeKey(test.database, clientId, kid!)).rejects.toThrow(/--force/);
    await removeKey(test.database, clientId, kid!, { force: true });
    const { clientSecret: again } = await addSecret(test.database, vault, clientId);
    expect(await login(clientId, again)).toBe(200);
  });

  it('has only its own secrets to remove', async () => {
    const [client, other] = [await newTestClient(test.database), await newTestClient(test.database)];
    for (const id of [await onlySecretOf(other), newId(), 'nonsense'])
      await expect(removeSecret(test.database, client.clientId, id)).rejects.toThrow(/no secret with the id/);
    for (const id of ['ferry_unknown', 'a\0b'])
      await expect(addSecret(test.database, vault, id)).rejects.toThrow(/no client with the id/);
  });
});

describe('a secret with an expiry', () => {
  it('is refused from then on, and does not count as one of the two any more', async () => {
    const client = await newTestClient(test.database);
    const { clientId, clientSecret } = client;
    const inSeconds = (seconds: number): bigint => BigInt(Date.now() + seconds * 1_000) * 1_000_000n;
    const added = await addSecret(test.database, vault, clientId, inSeconds(3_600));
    expect(await login(clientId, added.clientSecret)).toBe(200);
    await test.database.query('update client_secrets set expires_at_ns = $2 where id = $1', [
      added.id,
      inSeconds(-1),
    ]);
    expect(await login(clientId, added.clientSecret)).toBe(401);
    expect(await login(clientId, clientSecret)).toBe(200);
    // The expired one is no reason to remove the other.
    await expect(removeSecret(test.database, clientId, await onlySecretOf(client))).rejects.toThrow(
      /--force/,
    );
    const next = await addSecret(test.database, vault, clientId);
    const ids = (await listSecrets(test.database, clientId)).map(({ id }) => id);
    expect([ids.includes(next.id), ids.includes(added.id)]).toEqual([true, false]);
  });

  it('must expire in the future', async () => {
    const { clientId } = await newTestClient(test.database);
    await expect(addSecret(test.database, vault, clientId, 1_000_000_000n)).rejects.toThrow(
      'The expiry 1970-01-01T00:00:01Z is not in the future.',
    );
    expect(await listSecrets(test.database, clientId)).toHaveLength(1);
  });
});

it('a secret is replaced under load without one failed login', async () => {
  const client = await newTestClient(test.database);
  const { clientId } = client;
  const callers = Array.from({ length: 8 }, () => ({ secret: client.clientSecret, lastUsed: '' }));
  const done = new AbortController();
  const statuses: number[] = [];
  const load = callers.map(async (caller) => {
    while (!done.signal.aborted) {
      const { secret } = caller;
      statuses.push(await login(clientId, secret));
      caller.lastUsed = secret;
    }
  });
  for (let round = 0; round < 3; round += 1) {
    const old = await onlySecretOf(client);
    const { clientSecret } = await addSecret(test.database, vault, clientId);
    for (const caller of callers) {
      caller.secret = clientSecret;
      await until('the caller uses the new secret', () => caller.lastUsed === clientSecret);
    }
    await removeSecret(test.database, clientId, old);
  }
  done.abort();
  await Promise.all(load);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

/** As earlier releases stored it. */
function scryptHash(secret: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(secret, salt, 32, { cost: 2 ** 14, blockSize: 8, parallelization: 1 });
  return `$scrypt$ln=14,r=8,p=1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

describe('a secret of an earlier release', () => {
  it('still works after the migration, and has a keyed hash after its next use', async () => {
    const { test: old, connection, migrate } = await databaseBefore('client_credentials');
    const [customerId, clientId, clientSecret] = [newId(), 'ferry_old', 'ferry_secret_old'];
    await connection.query(`insert into customers values ($1, 'Old', 'FIRST_PARTY', 1)`, [customerId]);
    await connection.query(
      `insert into clients (id, customer_id, name, scopes, secret_hash, created_at_ns)
       values ($1, $2, 'old', '{transfer:read_transfer}', $3, 7)`,
      [clientId, customerId, scryptHash(clientSecret)],
    );
    await migrate();
    connection.release();
    const service = await startAuthNode(old.database);
    const hashes = () => old.database.query('select hash, created_at_ns as at from client_secrets');
    expect(await login(clientId, 'wrong', service.url)).toBe(401);
    expect(await hashes()).toEqual([{ hash: expect.stringMatching(/^\$scrypt\$/), at: 7n }]);
    const both = [login(clientId, clientSecret, service.url), login(clientId, clientSecret, service.url)];
    expect(await Promise.all(both)).toEqual([200, 200]);
    const hash = createHashSecret(testVault)({ clientId, clientSecret });
    expect(await hashes()).toEqual([{ hash, at: 7n }]);
    expect(await login(clientId, clientSecret, service.url)).toBe(200);
    expect(await login(clientId, 'wrong', service.url)).toBe(401);
    await service.stop();
    await old.drop();
  });

  it('is checked with the parameters that it was stored with', async () => {
    // RFC 7914 section 12: "pleaseletmein", "SodiumChloride", N = 16384, r = 8, p = 1.
    const expected =
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
    const base64 = (bytes: Buffer): string => bytes.toString('base64url');
    const stored = `$scrypt$ln=14,r=8,p=1$${base64(Buffer.from('SodiumChloride'))}$${base64(Buffer.from(expected, 'hex'))}`;
    const { check } = createScryptChecker();
    expect(await check('pleaseletmein', stored, 'a')).toBe(true);
    expect(await check('pleaseletmein', stored.replace('ln=14', 'ln=13'), 'a')).toBe(false);
  });

  it('waits for one check of an address that floods the service, not for all of them', async () => {
    const stored = scryptHash('right');
    const { check } = createScryptChecker(1, 4);
    const order: string[] = [];
    const from = (source: string) => check('right', stored, source).finally(() => order.push(source));
    const flood = Array.from({ length: 20 }, () => from('attacker'));
    const refused = Promise.allSettled(flood);
    expect(await from('victim')).toBe(true);
    // One ran when the victim came, and one had its turn before.
    expect(order.filter((source) => source === 'attacker').length - 15).toBeLessThanOrEqual(2);
    const answers = await refused;
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(15);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 429 } });
  });
});
