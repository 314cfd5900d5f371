import { setTimeout as delay } from 'node:timers/promises';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import type { Database } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { administratorOf, recordAdministration } from './changes.ts';
import {
  clockOf,
  deleteAllRetiredKeys,
  deleteRetiredKeys,
  insertKey,
  lockSigningKeys,
  type NewSigningKey,
  retireKeys,
  trustedKeys,
} from './store.ts';

/**
 * The keys that sign access tokens, shared by all nodes through the database. One key signs; a retired key verifies until
 * its last token has expired. A new key signs before all nodes have loaded it, so a node that sees an unknown key reloads
 * the keys before it rejects the token.
 */
export const SIGNING_ALGORITHM = 'EdDSA';

export type SigningKey = { readonly kid: string; readonly privateKey: CryptoKey };

export type Keyring = {
  /** Created by the first node that needs one. */
  signingKey(): Promise<SigningKey>;
  /** Undefined only if a query that was sent after this call did not find it. */
  verificationKey(kid: string): Promise<CryptoKey | undefined>;
  /** From the cache: false if the cache is stale. `nowMs` is monotonic. */
  trustsNow(kid: string, nowMs: number): boolean;
  publicKeys(): Promise<JWK[]>;
  reload(): Promise<void>;
};

/** All tokens of a key that was retired longer ago have expired. */
const RETIRED_NS = BigInt(LIMITS.accessTokenSeconds * 1_000 + LIMITS.signingKeyGraceMs) * NS_PER_MS;

async function newKey(): Promise<NewSigningKey> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { crv: 'Ed25519', extractable: true });
  const privateJwk = await exportJWK(privateKey);
  const id = await calculateJwkThumbprint(privateJwk);
  const { kty, crv, x } = privateJwk as { kty: string; crv: string; x: string };
  const publicJwk = { kty, crv, x, kid: id, alg: SIGNING_ALGORITHM, use: 'sig' };
  return { id, privateJwk, publicJwk };
}

/** Nodes that start together on a new database create one key. */
async function createFirstKey(database: Database): Promise<void> {
  const key = await newKey();
  await database.transaction(async (tx) => {
    await lockSigningKeys(tx);
    const keys = await trustedKeys(tx, RETIRED_NS);
    if (keys.every(({ retiredAtNs }) => retiredAtNs !== null)) await insertKey(tx, key);
  });
}

/**
 * Replaces the key that signs. With `distrustOld`, for when a key has leaked, the old keys are deleted, and every token
 * that they signed becomes invalid within 10 seconds.
 */
export async function rotateSigningKey(
  database: Database,
  { distrustOld = false }: { distrustOld?: boolean } = {},
): Promise<string> {
  const key = await newKey();
  await database.transaction(async (tx) => {
    await lockSigningKeys(tx);
    await retireKeys(tx);
    if (distrustOld) await deleteAllRetiredKeys(tx);
    else await deleteRetiredKeys(tx, RETIRED_NS);
    await insertKey(tx, key);
    const rotated = { action: 'signing_key.rotated', customerId: null, resourceId: key.id };
    const after = { kid: key.id, distrusts_old: distrustOld };
    await recordAdministration(tx, administratorOf(database), await clockOf(tx), [{ ...rotated, after }]);
  });
  return key.id;
}

type Known = { readonly publicJwk: JWK; readonly key: CryptoKey };

/** What one load of the keys found. */
type Loaded = {
  readonly keys: ReadonlyMap<string, Known>;
  readonly signing: SigningKey | undefined;
  /** When the query was sent, not when it was answered. Monotonic, because wall clocks are adjusted. */
  readonly askedAtMs: number;
};

const NOTHING_LOADED: Loaded = { keys: new Map(), signing: undefined, askedAtMs: Number.NEGATIVE_INFINITY };

/** Keys that the previous load imported are not imported again. */
async function loadKeys(database: Database, previous: Loaded): Promise<Loaded> {
  const askedAtMs = performance.now();
  const rows = await trustedKeys(database, RETIRED_NS);
  const keys = new Map<string, Known>();
  for (const { id, publicJwk } of rows) {
    const key = previous.keys.get(id)?.key ?? ((await importJWK(publicJwk, SIGNING_ALGORITHM)) as CryptoKey);
    keys.set(id, { publicJwk, key });
  }
  const signer = rows.find(({ retiredAtNs }) => retiredAtNs === null);
  if (signer === undefined) return { keys, signing: undefined, askedAtMs };
  if (previous.signing?.kid === signer.id) return { keys, signing: previous.signing, askedAtMs };
  const privateKey = (await importJWK(signer.privateJwk, SIGNING_ALGORITHM)) as CryptoKey;
  return { keys, signing: { kid: signer.id, privateKey }, askedAtMs };
}

/**
 * Calls `work` at most once per interval. Each call resolves after a run that began after the call, and calls that wait
 * share one run. So a flood of invented key ids costs a few small queries per second, and no node rejects a key that
 * exists because it asked too early.
 */
function spaced(work: () => Promise<void>, intervalMs: number): () => Promise<void> {
  let startedAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function runNext(): Promise<void> {
    await running?.catch(() => undefined);
    const waitMs = startedAtMs + intervalMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    next = undefined;
    startedAtMs = performance.now();
    running = work();
    await running;
  }

  return () => {
    next ??= runNext();
    return next;
  };
}

export function createKeyring(
  database: Database,
  { staleMs, reloadIntervalMs }: { staleMs: number; reloadIntervalMs: number },
): Keyring {
  let loaded = NOTHING_LOADED;
  const reload = spaced(async () => {
    loaded = await loadKeys(database, loaded);
  }, reloadIntervalMs);

  async function reloadIfStale(): Promise<void> {
    if (performance.now() - loaded.askedAtMs >= staleMs) await reload();
  }

  return {
    async signingKey() {
      await reloadIfStale();
      if (loaded.signing === undefined) {
        await createFirstKey(database);
        await reload();
      }
      if (loaded.signing === undefined) throw new Error('a signing key was created, but none was found');
      return loaded.signing;
    },
    async verificationKey(kid) {
      await reloadIfStale();
      if (!loaded.keys.has(kid)) await reload();
      return loaded.keys.get(kid)?.key;
    },
    trustsNow: (kid, nowMs) => nowMs - loaded.askedAtMs < staleMs && loaded.keys.has(kid),
    async publicKeys() {
      await reloadIfStale();
      return [...loaded.keys.values()].map(({ publicJwk }) => publicJwk);
    },
    reload,
  };
}
