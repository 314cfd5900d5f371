import { decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { disableClient, rotateKey } from '../../src/auth/administration.ts';
import { type AuthTiming, createAuth } from '../../src/auth/auth.ts';
import { createServerClock } from '../../src/database/server-clock.ts';
import { NS_PER_SECOND } from '../../src/kernel/instant.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testVault } from '../support/vault.ts';
import {
  type AuthNode,
  counting,
  eventually,
  newTestClient,
  postToken,
  refusal,
  signedByUs,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

const FAST: AuthTiming = { pollMs: 300, staleMs: 700, keyReloadIntervalMs: 25 };
/** Neither the poll nor a stale cache causes a query: only an unknown key does. */
const NEVER: AuthTiming = { pollMs: 600_000, staleMs: 600_000, keyReloadIntervalMs: 10 };

let test: TestDatabase;
let client: TestClient;
const nodes: AuthNode[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  client = await newTestClient(test.database);
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
afterAll(() => test.drop());

async function start(timing: AuthTiming): Promise<AuthNode> {
  const publicUrl = nodes[0]?.url;
  const node = await startAuthNode(test.database, {
    timing,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
  nodes.push(node);
  return node;
}

async function startTwo(timing: AuthTiming): Promise<[AuthNode, AuthNode]> {
  return [await start(timing), await start(timing)];
}

const lets = (node: AuthNode, token: string): Promise<boolean> =>
  node.auth.authenticate(`Bearer ${token}`).then(
    () => true,
    (error: unknown) => {
      if ((error as { slug?: string }).slug === 'unauthenticated') return false;
      throw error;
    },
  );

const kidOf = (token: string): string => decodeProtectedHeader(token).kid!;

async function publishedKids(node: AuthNode): Promise<string[]> {
  const response = await fetch(`${node.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

describe('several nodes on one database', () => {
  it('create only one first key when they start together', async () => {
    const empty = await createTestDatabase();
    const publicUrl = (): string => 'http://ferry.example';
    const log = { info: () => undefined, warn: () => undefined };
    const { database } = empty;
    const clock = await createServerClock(database, () => undefined);
    const vault = testVault;
    const auths = Array.from({ length: 5 }, () => createAuth({ database, vault, clock, publicUrl, log }));
    await Promise.all(auths.map((auth) => auth.start()));
    const keys = await empty.database.query('select id from signing_keys');
    await Promise.all(auths.map((auth) => auth.stop()));
    await empty.drop();
    expect(keys).toHaveLength(1);
  });

  it('rotate the key without invalidating existing tokens', async () => {
    const [a, b] = await startTwo(FAST);
    const old = await tokenFor(a, client);
    const kid = await a.auth.rotateKey();
    const fresh = await tokenFor(a, client);
    expect([kidOf(old) === kid, kidOf(fresh)]).toEqual([false, kid]);
    // The other node has not polled since: it loads the key when it gets a token with it.
    expect(await lets(b, fresh)).toBe(true);
    await eventually(async () => kidOf(await tokenFor(b, client)) === kid);
    for (const node of [a, b]) {
      expect([await lets(node, old), await lets(node, fresh)]).toEqual([true, true]);
      expect(await publishedKids(node)).toEqual(expect.arrayContaining([kidOf(old), kid]));
    }
  });

  it('accept a token of a key that another node just created, among invented key ids and with few queries', async () => {
    const a = await start(NEVER);
    const counted = counting(test.database);
    const b = await startAuthNode(counted.database, {
      timing: { ...NEVER, keyReloadIntervalMs: 1_000 },
      publicUrl: a.url,
    });
    nodes.push(b);
    const claims = { iss: a.url, aud: a.url, client_id: client.clientId, scope: 'a' };
    const invented = (kid: number) => signedByUs(test.database, claims, { kid: `invented-${kid}` });
    const forged = await Promise.all(Array.from({ length: 200 }, (_, index) => invented(index)));
    // It has just queried the database in vain, and does not query again for a second.
    expect(await lets(b, await invented(-1))).toBe(false);
    const before = counted.queries();
    await a.auth.rotateKey();
    const fresh = await tokenFor(a, client);
    const refused = forged.map((token) => lets(b, token));
    expect(await lets(b, fresh)).toBe(true);
    expect(new Set(await Promise.all(refused))).toEqual(new Set([false]));
    // Two in the best case, one for the keys and one for the client; a few more if the second passes meanwhile.
    expect(counted.queries() - before).toBeLessThan(forged.length / 2);
  });

  it('drop a retired key after its last token has expired, and not before', async () => {
    const [a, b] = await startTwo(FAST);
    const old = await tokenFor(a, client);
    await rotateKey(test.database);
    const retiredSecondsAgo = async (seconds: number): Promise<void> => {
      const atNs = BigInt(Math.floor(Date.now() / 1000) - seconds) * NS_PER_SECOND;
      await test.database.query('update signing_keys set retired_at_ns = $1 where id = $2', [
        atNs,
        kidOf(old),
      ]);
    };
    await retiredSecondsAgo(3_660);
    await new Promise((resolve) => setTimeout(resolve, 3 * FAST.pollMs));
    expect([await lets(a, old), await lets(b, old)]).toEqual([true, true]);
    await retiredSecondsAgo(3_600 + LIMITS.signingKeyGraceMs / 1_000 + 10);
    for (const node of [a, b]) {
      await eventually(async () => !(await publishedKids(node)).includes(kidOf(old)));
      expect(await lets(node, old)).toBe(false);
    }
    await rotateKey(test.database);
    expect(await test.database.query('select id from signing_keys where id = $1', [kidOf(old)])).toEqual([]);
  });

  it('stop trusting a leaked key after key rotate --distrust-old, although its tokens were verified before', async () => {
    const [a, b] = await startTwo(FAST);
    const old = await tokenFor(a, client);
    expect([await lets(a, old), await lets(b, old)]).toEqual([true, true]);
    await rotateKey(test.database, { distrustOld: true });
    for (const node of [a, b]) await eventually(async () => !(await lets(node, old)));
    expect(await lets(b, await tokenFor(a, client))).toBe(true);
  });
});

describe('disabling a client', () => {
  it('takes effect on every node with the next poll, although its tokens were verified before', async () => {
    const [a, b] = await startTwo(FAST);
    const [doomed, other] = [await newTestClient(test.database), client];
    const [token, otherToken] = [await tokenFor(a, doomed), await tokenFor(a, other)];
    for (const node of [a, b])
      expect([await lets(node, token), await lets(node, otherToken)]).toEqual([true, true]);
    await disableClient(test.database, doomed.clientId);
    for (const node of [a, b]) await eventually(async () => !(await lets(node, token)));
    expect((await refusal(b.auth, token)).message).toMatch(/disabled/);
    for (const node of [a, b]) expect(await lets(node, otherToken)).toBe(true);
  });

  it('takes effect on a node that does not poll, once its cache is stale', async () => {
    const [a, b] = await startTwo({ ...FAST, pollMs: 600_000 });
    const doomed = await newTestClient(test.database);
    const token = await tokenFor(a, doomed);
    for (const node of [a, b]) expect(await lets(node, token)).toBe(true);
    await disableClient(test.database, doomed.clientId);
    for (const node of [a, b]) await eventually(async () => !(await lets(node, token)));
  });

  it('refuses token requests at once', async () => {
    const node = await start(NEVER);
    const doomed = await newTestClient(test.database);
    await tokenFor(node, doomed);
    await disableClient(test.database, doomed.clientId);
    const body = { grant_type: 'client_credentials', client_id: doomed.clientId };
    const response = await postToken(node.url, { ...body, client_secret: doomed.clientSecret });
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      401,
      'invalid_client',
    ]);
  });

  it('is documented to take at most 10 seconds: the cache expires before that, with time for the query', () => {
    expect(LIMITS.authPollMs).toBeLessThan(LIMITS.authStaleMs);
    expect(LIMITS.authStaleMs + LIMITS.lockTimeoutMs).toBeLessThan(10_000);
  });
});
