import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Finished, makeDataDir, removeDataDir, runFerry, urlOf } from '../support/process.ts';
import { expectSentence } from './sentence.ts';

/** The commands for the credentials of clients. What they mean for a running service is in test/auth. */
const dataDir = makeDataDir();
let test: TestDatabase;
let clientId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  await json('customer', 'create', '--name', 'Dock');
  ({ client_id: clientId } = await json('client', 'create', '--customer', 'Dock', '--name', 'payouts'));
});
afterAll(async () => {
  await test.drop();
  await removeDataDir(dataDir);
});

const ferry = (...args: string[]): Promise<Finished> =>
  runFerry(args, { FERRY_DATA_DIR: dataDir, DATABASE_URL: urlOf(test.address) });

async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const TIME = expect.stringMatching(/^\d{4}-.*Z$/);

describe('client secret', () => {
  it('adds a secret that is shown once, lists both, and removes one', async () => {
    const added = await json('client', 'secret', 'add', clientId, '--expires', '2199-01-31');
    expect(added).toEqual({
      client_id: clientId,
      secret_id: expect.any(String),
      client_secret: expect.stringMatching(/^ferry_secret_/),
      expires_at: '2199-01-31T00:00:00Z',
    });
    const listed: any[] = await json('client', 'secret', 'list', clientId);
    expect(listed).toEqual([
      { secret_id: expect.any(String), created_at: TIME, expires_at: null },
      { secret_id: added.secret_id, created_at: TIME, expires_at: '2199-01-31T00:00:00Z' },
    ]);
    const [{ secret_id: first }] = listed;
    expectSentence(await ferry('client', 'secret', 'add', clientId), {
      code: 1,
      sentence: /^The client has 2 secrets, which is the maximum\. Remove one of them first: /,
    });
    expect((await ferry('client', 'secret', 'remove', clientId, first)).stdout).toBe(
      `Removed the secret ${first}.\n`,
    );
    const { stdout } = await ferry('client', 'secret', 'list', clientId);
    expect(stdout).toMatch(/^SECRET +CREATED +EXPIRES\n/);
    expect(stdout).toContain(added.secret_id);
    expect(stdout).not.toContain(added.client_secret);
    expectSentence(await ferry('client', 'secret', 'remove', clientId, added.secret_id), {
      code: 1,
      sentence: /^The client could not authenticate any more: .* --force\.$/m,
    });
    const forced = await json('client', 'secret', 'remove', clientId, added.secret_id, '--force');
    expect(forced).toEqual({ client_id: clientId, secret_id: added.secret_id, removed: true });
    const printed = await ferry(
      'client',
      'secret',
      'add',
      clientId,
      '--expires',
      '2199-01-31T12:00:00+01:00',
    );
    expect(printed.stdout).toMatch(
      /^secret_id +\S+\nclient_secret +ferry_secret_\S+\n.*not shown again\.\n$/,
    );
  });

  it('refuses an expiry in the past and an unknown client', async () => {
    expectSentence(await ferry('client', 'secret', 'add', clientId, '--expires', '2020-01-31'), {
      code: 1,
      sentence: 'The expiry 2020-01-31T00:00:00Z is not in the future.',
    });
    expectSentence(await ferry('client', 'secret', 'list', 'nobody'), {
      code: 1,
      sentence: 'There is no client with the id "nobody".',
    });
  });
});

it('client key adds keys from a file, lists them, and removes one', async () => {
  const path = join(dataDir, 'key.json');
  const jwk = { ...(await exportJWK((await generateKeyPair('EdDSA')).publicKey)), kid: 'laptop' };
  writeFileSync(path, JSON.stringify(jwk));
  expect(await json('client', 'key', 'add', clientId, path)).toEqual({
    client_id: clientId,
    kids: ['laptop'],
  });
  expect(await json('client', 'key', 'list', clientId)).toEqual([{ kid: 'laptop', jwk, created_at: TIME }]);
  expect((await ferry('client', 'key', 'list', clientId)).stdout).toMatch(
    /^KEY +KIND +CREATED\nlaptop +Ed25519 /,
  );
  expect((await ferry('client', 'key', 'remove', clientId, 'laptop')).stdout).toBe(
    'Removed the key laptop.\n',
  );
  expectSentence(await ferry('client', 'key', 'remove', clientId, 'laptop'), {
    code: 1,
    sentence: 'The client has no key with the id "laptop".',
  });
  expectSentence(await ferry('client', 'key', 'add', clientId, join(dataDir, 'no.json')), {
    code: 1,
    sentence: `${join(dataDir, 'no.json')} cannot be read (ENOENT).`,
  });
  writeFileSync(path, '{}');
  expectSentence(await ferry('client', 'key', 'add', clientId, path), {
    code: 1,
    sentence: /Ed25519, P-256 or RSA\.$/m,
  });
});

it('client allow restricts a client to addresses, and lifts the restriction', async () => {
  const allowed = async () =>
    (await json('client', 'list')).find((one: any) => one.client_id === clientId).allowed_addresses;
  const ranges = ['192.0.2.0/24', '2001:db8::/32'];
  expect(await json('client', 'allow', clientId, ...ranges)).toEqual({
    client_id: clientId,
    allowed_addresses: ranges,
  });
  expect(await allowed()).toEqual(ranges);
  expect((await ferry('client', 'allow', clientId, '--clear')).stdout).toBe(
    `${clientId} may be used from any address.\n`,
  );
  expect(await allowed()).toBe(null);
  expectSentence(await ferry('client', 'allow', clientId, '10.1.2.3/8'), {
    code: 1,
    sentence: /^"10\.1\.2\.3\/8" is not an address, or a range/,
  });
});

it('client scopes replaces the scopes of a client', async () => {
  const scopes = ['transfer:read_transfer', 'funding:read_profile'];
  const asked = scopes.flatMap((scope) => ['--scope', scope]);
  expect(await json('client', 'scopes', clientId, ...asked)).toEqual({ client_id: clientId, scopes });
  expectSentence(await ferry('client', 'scopes', clientId, '--scope', 'tea:write'), {
    code: 1,
    sentence: /^Unknown scope "tea:write"/,
  });
});

it('client create --id registers a client of an external issuer, without a secret', async () => {
  const request = ['client', 'create', '--customer', 'Dock', '--name', 'theirs', '--id', 'their-client'];
  expect(await json(...request, '--scope', 'transfer:read_transfer')).toEqual({
    client_id: 'their-client',
    scopes: ['transfer:read_transfer'],
  });
  expect(await json('client', 'secret', 'list', 'their-client')).toEqual([]);
  expectSentence(await ferry(...request), {
    code: 1,
    sentence: 'A client with the id "their-client" already exists.',
  });
});
