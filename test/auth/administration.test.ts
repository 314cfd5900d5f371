import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  createCustomer,
  disableClient,
  listClients,
  listCustomers,
  rotateKey,
  seedClient,
} from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { createHashSecret } from '../../src/auth/secrets.ts';
import { newId } from '../../src/kernel/id.ts';
import { createVault, newDataKey, type Vault } from '../../src/sealing/vault.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testVault } from '../support/vault.ts';
import { newTestClient, postToken, startAuthNode, tokenFor } from './auth-nodes.ts';

let test: TestDatabase;
let vault: Vault;
beforeAll(async () => {
  test = await createTestDatabase();
  vault = testVault;
});
afterAll(() => test.drop());

const FIRST_PARTY = 'FIRST_PARTY' as const;
const READ = ['transfer:read_transfer'];

describe('customers', () => {
  it('are created and listed', async () => {
    const made = await createCustomer(test.database, {
      name: 'Åkerström & Söhne',
      integration: 'THIRD_PARTY',
    });
    expect(made).toMatchObject({ name: 'Åkerström & Söhne', integration: 'THIRD_PARTY' });
    expect(await listCustomers(test.database)).toContainEqual(made);
  });

  it('have unique names', async () => {
    const made = await createCustomer(test.database, { name: 'Twice', integration: FIRST_PARTY });
    await expect(createCustomer(test.database, { name: 'Twice', integration: FIRST_PARTY })).rejects.toThrow(
      'A customer with the name "Twice" already exists.',
    );
    const again = { name: 'Twice', integration: FIRST_PARTY };
    expect(await createCustomer(test.database, again, { mayExist: true })).toEqual(made);
  });

  it.each(['', ' a', 'a ', 'a\nb', 'a\0b', 'x'.repeat(101)])('must not have the name %j', async (name) => {
    await expect(createCustomer(test.database, { name, integration: FIRST_PARTY })).rejects.toThrow(
      /printable/,
    );
  });

  it('must not have a name in the form of an id', async () => {
    const [customer] = await listCustomers(test.database);
    for (const name of [customer!.id, newId().toUpperCase()]) {
      await expect(createCustomer(test.database, { name, integration: FIRST_PARTY })).rejects.toThrow(
        /an id/,
      );
    }
  });

  it('are FIRST_PARTY or THIRD_PARTY', async () => {
    const request = { name: 'Kind', integration: 'OTHER' as never };
    await expect(createCustomer(test.database, request)).rejects.toThrow('FIRST_PARTY or THIRD_PARTY');
  });
});

describe('clients', () => {
  it('are created for a customer by id or name, and listed without anything secret', async () => {
    const customer = await createCustomer(test.database, { name: 'With clients', integration: FIRST_PARTY });
    const [byId, byName] = [
      await createClient(test.database, vault, {
        customer: customer.id,
        name: 'one',
        scopes: [...READ, ...READ],
      }),
      await createClient(test.database, vault, {
        customer: 'With clients',
        name: 'two',
        scopes: SCOPE_NAMES,
      }),
    ];
    expect(byId.clientSecret).toMatch(/^ferry_secret_[A-Za-z0-9_-]{43}$/);
    expect(byId.clientId).toMatch(/^ferry_[0-9a-f]{24}$/);
    const listed = await listClients(test.database, { customer: 'With clients' });
    expect(listed).toEqual([byId.client, byName.client]);
    expect(listed[0]!.scopes).toEqual(READ);
    expect(listed.flatMap((client) => Object.keys(client))).not.toContain('secretHash');
    expect(await listClients(test.database)).toEqual(expect.arrayContaining(listed));
  });

  it('need an existing customer and valid scopes', async () => {
    const create = (change: object) =>
      createClient(test.database, vault, { customer: 'With clients', name: 'a', scopes: READ, ...change });
    await expect(create({ customer: 'Nobody' })).rejects.toThrow('no customer with the id or name "Nobody"');
    await expect(create({ customer: newId() })).rejects.toThrow(/no customer with the id/);
    await expect(create({ scopes: ['transfer:all'] })).rejects.toThrow(
      /"transfer:all".*identity:write_account/,
    );
    await expect(create({ scopes: [] })).rejects.toThrow(/at least one scope.*identity:write_account/);
    await expect(create({ name: '' })).rejects.toThrow(/name of a client/);
  });

  it('are disabled permanently; a second call changes nothing', async () => {
    const { clientId } = await newTestClient(test.database);
    const first = await disableClient(test.database, clientId);
    expect(first.disabledAtNs).toEqual(expect.any(BigInt));
    expect(await disableClient(test.database, clientId)).toEqual(first);
    for (const unknown of ['ferry_unknown', 'a\0b', '']) {
      await expect(disableClient(test.database, unknown)).rejects.toThrow(/no client with the id/);
    }
  });

  it('are seeded with given credentials once, even by two concurrent calls', async () => {
    const customer = await createCustomer(test.database, { name: 'Seeded', integration: FIRST_PARTY });
    const seed = {
      clientId: 'demo',
      clientSecret: 'demo-secret',
      customer: customer.id,
      name: 'demo',
      scopes: READ,
    };
    const made = await Promise.all([
      seedClient(test.database, vault, seed),
      seedClient(test.database, vault, seed),
    ]);
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await seedClient(test.database, vault, { ...seed, clientSecret: 'another' })).toBe(false);
    const node = await startAuthNode(test.database);
    expect(await tokenFor(node, { ...seed, customerId: customer.id, customerName: '' })).toEqual(
      expect.any(String),
    );
    await node.stop();
  });
});

describe('secrets', () => {
  async function storedHashes(clientId: string): Promise<string[]> {
    const text = 'select hash from client_secrets where client_id = $1';
    const rows = await test.database.query<{ hash: string }>(text, [clientId]);
    return rows.map(({ hash }) => hash);
  }

  it('are stored as a keyed hash of the id and the secret, which another key or client does not have', async () => {
    const hash = createHashSecret(vault);
    const credentials = { clientId: 'ferry_1', clientSecret: 'secret' };
    expect(hash(credentials)).toMatch(/^\$hmac\$1\$[\w-]{43}$/);
    expect(hash(credentials)).toBe(createHashSecret(testVault)(credentials));
    const other = createHashSecret(createVault([{ id: 1, key: newDataKey() }]));
    expect(other(credentials)).not.toBe(hash(credentials));
    expect(hash({ ...credentials, clientId: 'ferry_2' })).not.toBe(hash(credentials));
    expect(hash({ clientId: 'ferry_', clientSecret: '1secret' })).not.toBe(hash(credentials));
    const client = await newTestClient(test.database);
    expect(await storedHashes(client.clientId)).toEqual([hash(client)]);
  });

  it('never appear in logs or answers, whatever goes wrong', async () => {
    const node = await startAuthNode(test.database);
    const client = await newTestClient(test.database);
    const [wrong, misplaced] = ['wrong-secret-zzz', client.clientSecret];
    const token = await tokenFor(node, client);
    const grant = { grant_type: 'client_credentials' };
    const answers = [
      await postToken(node.url, { ...grant, client_id: client.clientId, client_secret: wrong }),
      await postToken(node.url, { ...grant, client_id: misplaced, client_secret: wrong }),
      await postToken(node.url, { [misplaced]: 'a', ...grant }),
      await postToken(node.url, `${misplaced}=1&${misplaced}=2`),
      await postToken(node.url, misplaced, { 'content-type': misplaced }),
      await fetch(`${node.url}/oauth2/token?client_secret=${misplaced}`, { method: 'POST' }),
      await fetch(`${node.url}/v2/who-am-i`, { headers: { authorization: `Bearer ${token}x` } }),
      await fetch(`${node.url}/v2/who-am-i`, { headers: { authorization: `Bearer ${misplaced}` } }),
    ];
    // An internal error: the stored hash is invalid.
    await test.database.query(`update client_secrets set hash = '$scrypt$broken-hash' where client_id = $1`, [
      client.clientId,
    ]);
    answers.push(
      await postToken(node.url, { ...grant, client_id: client.clientId, client_secret: misplaced }),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 400, 400, 400, 401, 401, 500]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    await node.stop();
    const everything = [node.logs(), ...texts].join('\n');
    expect(node.logs()).toContain('token request with wrong credentials');
    expect(node.logs()).toContain('token request failed');
    const [signature] = token.split('.').slice(2);
    for (const secret of [wrong, misplaced, signature!, 'broken-hash'])
      expect(everything).not.toContain(secret);
  });
});

describe('the signing key', () => {
  it('can be rotated before any node has started', async () => {
    const empty = await createTestDatabase();
    const { kid } = await rotateKey(empty.database);
    expect(await empty.database.query('select id from signing_keys where retired_at_ns is null')).toEqual([
      { id: kid },
    ]);
    await empty.drop();
  });
});
