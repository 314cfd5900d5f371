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
import {
  deleteAllRetiredKeys,
  deleteRetiredKeys,
  insertKey,
  lockSigningKeys,
  type NewSigningKey,
  retireKeys,
  trustedKeys,
} from './store.ts';

/**
 * The keys that sign access tokens, in the database and so the same on all nodes. One signs; a retired one verifies
 * until its last token has expired. A new key signs before all nodes know it; a node that meets a token with a key
 * that it does not know looks into the database before it says no.
 */
export const SIGNING_ALGORITHM = 'EdDSA';

export type SigningKey = { readonly kid: string; readonly privateKey: CryptoKey };

export type Keyring = {
  /** Made when there is none yet, whichever node is first. */
  signingKey(): Promise<SigningKey>;
  /** Undefined only when the database, asked after this call, does not know it either. */
  verificationKey(kid: string): Promise<CryptoKey | undefined>;
  /** Without asking anybody: false also when what is known is too old. `nowMs` is monotonic. */
  trustsNow(kid: string, nowMs: number): boolean;
  publicKeys(): Promise<JWK[]>;
  reload(): Promise<void>;
};

/** A key that was retired longer ago has no live token left. */
const RETIRED_NS = BigInt(LIMITS.accessTokenSeconds * 1_000 + LIMITS.signingKeyGraceMs) * NS_PER_MS;

async function newKey(): Promise<NewSigningKey> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { crv: 'Ed25519', extractable: true });
  const privateJwk = await exportJWK(privateKey);
  const id = await calculateJwkThumbprint(privateJwk);
  const { kty, crv, x } = privateJwk as { kty: string; crv: string; x: string };
  const publicJwk = { kty, crv, x, kid: id, alg: SIGNING_ALGORITHM, use: 'sig' };
  return { id, privateJwk, publicJwk };
}

/** Nodes that start together on a new database agree on one. */
async function createFirstKey(database: Database): Promise<void> {
  const key = await newKey();
  await database.transaction(async (tx) => {
    await lockSigningKeys(tx);
    const keys = await trustedKeys(tx, RETIRED_NS);
    if (keys.every(({ retiredAtNs }) => retiredAtNs !== null)) await insertKey(tx, key);
  });
}

/**
 * A new key signs from now on. With `distrustOld` the old ones are thrown away, for when one has leaked: every live
 * token stops working within 10 seconds.
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
  });
  return key.id;
}

type Known = { readonly publicJwk: JWK; readonly key: CryptoKey };

export function createKeyring(
  database: Database,
  { staleMs, reloadIntervalMs }: { staleMs: number; reloadIntervalMs: number },
): Keyring {
  let known = new Map<string, Known>();
  let signing: SigningKey | undefined;
  /** When the database was asked for what is known, not when it answered. Monotonic: clocks are set at times. */
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function load(): Promise<void> {
    const startedAtMs = performance.now();
    triedAtMs = startedAtMs;
    const rows = await trustedKeys(database, RETIRED_NS);
    const loaded = new Map<string, Known>();
    for (const { id, publicJwk } of rows) {
      const key = known.get(id)?.key ?? ((await importJWK(publicJwk, SIGNING_ALGORITHM)) as CryptoKey);
      loaded.set(id, { publicJwk, key });
    }
    const signer = rows.find(({ retiredAtNs }) => retiredAtNs === null);
    if (signer === undefined) signing = undefined;
    else if (signing?.kid !== signer.id) {
      const privateKey = (await importJWK(signer.privateJwk, SIGNING_ALGORITHM)) as CryptoKey;
      signing = { kid: signer.id, privateKey };
    }
    known = loaded;
    askedAtMs = startedAtMs;
  }

  async function loadInTurn(): Promise<void> {
    await running?.catch(() => undefined);
    const waitMs = triedAtMs + reloadIntervalMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    next = undefined;
    running = load();
    await running;
  }

  /**
   * Resolves after a load that began after this call. Calls share it, and loads keep their distance, so a flood of
   * made-up key ids costs a few small queries a second, and none of it makes a node refuse a key that is there.
   */
  function reload(): Promise<void> {
    next ??= loadInTurn();
    return next;
  }

  async function renewIfStale(): Promise<void> {
    if (performance.now() - askedAtMs >= staleMs) await reload();
  }

  return {
    async signingKey() {
      await renewIfStale();
      if (signing === undefined) {
        await createFirstKey(database);
        await reload();
      }
      if (signing === undefined) throw new Error('there is no signing key although one was made');
      return signing;
    },
    async verificationKey(kid) {
      await renewIfStale();
      if (!known.has(kid)) await reload();
      return known.get(kid)?.key;
    },
    trustsNow: (kid, nowMs) => nowMs - askedAtMs < staleMs && known.has(kid),
    async publicKeys() {
      await renewIfStale();
      return [...known.values()].map(({ publicJwk }) => publicJwk);
    },
    reload,
  };
}
