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
import { createSecretChecker, hashSecret } from '../../src/auth/secrets.ts';
import { newId } from '../../src/kernel/id.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { problemOf } from '../support/ledger.ts';
import { newTestClient, postToken, startAuthNode, tokenFor } from './auth-nodes.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
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
      await createClient(test.database, { customer: customer.id, name: 'one', scopes: [...READ, ...READ] }),
      await createClient(test.database, { customer: 'With clients', name: 'two', scopes: SCOPE_NAMES }),
    ];
    expect(byId.clientSecret).toMatch(/^ferry_secret_[A-Za-z0-9_-]{43}$/);
    expect(byId.clientId).toMatch(/^ferry_[0-9a-f]{24}$/);
    const listed = await listClients(test.database, { customer: 'With clients' });
    expect(listed).toEqual([byId.client, byName.client]);
    expect(listed[0]!.scopes).toEqual(READ);
    expect(JSON.stringify(listed.map(String))).not.toContain('scrypt');
    expect(listed.flatMap((client) => Object.keys(client))).not.toContain('secretHash');
    expect(await listClients(test.database)).toEqual(expect.arrayContaining(listed));
  });

  it('need an existing customer and valid scopes', async () => {
    const create = (change: object) =>
      createClient(test.database, { customer: 'With clients', name: 'a', scopes: READ, ...change });
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
    const made = await Promise.all([seedClient(test.database, seed), seedClient(test.database, seed)]);
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await seedClient(test.database, { ...seed, clientSecret: 'another' })).toBe(false);
    const node = await startAuthNode(test.database);
    expect(await tokenFor(node, { ...seed, customerId: customer.id, customerName: '' })).toEqual(
      expect.any(String),
    );
    await node.stop();
  });
});

describe('secrets', () => {
  it('are stored as salted scrypt hashes that only the right secret matches', async () => {
    const [one, two] = [await hashSecret('same'), await hashSecret('same')];
    expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(two);
    const checker = createSecretChecker();
    const answers = [
      checker.check('same', one),
      checker.check('other', one),
      checker.check('same', undefined),
    ];
    expect(await Promise.all(answers)).toEqual([true, false, false]);
  });

  it('are checked with the parameters that they were stored with', async () => {
    // RFC 7914 section 12: "pleaseletmein", "SodiumChloride", N = 16384, r = 8, p = 1.
    const expected =
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
    const base64 = (bytes: Buffer): string => bytes.toString('base64url');
    const stored = `$scrypt$ln=14,r=8,p=1$${base64(Buffer.from('SodiumChloride'))}$${base64(Buffer.from(expected, 'hex'))}`;
    const checker = createSecretChecker();
    expect(await checker.check('pleaseletmein', stored)).toBe(true);
    expect(await checker.check('pleaseletmein', stored.replace('ln=14', 'ln=13'))).toBe(false);
  });

  it('are checked a few at a time, and a flood gets 503', async () => {
    const stored = await hashSecret('right');
    const checker = createSecretChecker(1, 2);
    const running = [
      checker.check('right', stored),
      checker.check('wrong', stored),
      checker.check('right', stored),
    ];
    const refused = await problemOf(checker.check('right', stored));
    expect([refused.status, refused.retryAfterSeconds]).toEqual([503, 1]);
    expect(await Promise.all(running)).toEqual([true, false, true]);
    expect(await checker.check('right', stored)).toBe(true);
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
    await test.database.query(`update clients set secret_hash = 'broken-hash' where id = $1`, [
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
