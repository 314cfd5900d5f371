import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  ECDH,
  sign as signEd25519,
} from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { LIMITS } from '../limits.ts';

/**
 * Where keys are, behind one small interface. A path such as `m/44'/60'/0'/0/3` names a key. Below an account, whose path ends
 * with a hardened number, keys are children of the account's public key.
 */
export type Keys = {
  /** For operators. */
  readonly kind: string;
  /** Compressed, 33 bytes on secp256k1; 32 bytes on Ed25519. Throws if there is no such key. */
  publicKey(key: KeyName): Promise<Uint8Array>;
  /** r and s on secp256k1, of a digest; a signature on Ed25519, of the message itself. 64 bytes. */
  sign(key: KeyName, bytes: Uint8Array): Promise<Uint8Array>;
  /** Of an account, in the form of a test chain if asked; undefined if the keys are not hierarchical. */
  xpub(account: string, isTest?: boolean): string | undefined;
  /** Authenticates the lines of the log, so that only the holder of the keys can write one. */
  readonly logKey: Buffer;
  close(): Promise<void>;
};

export type KeyName = { readonly curve: 'secp256k1' | 'ed25519'; readonly path: string };

/** Half of the order of secp256k1. A signature with the larger s is valid, too, but nodes refuse it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The same signature with the smaller s. */
export function lowS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${hexOf(signature.subarray(32, 64))}`);
  if (s <= ORDER / 2n) return signature;
  const low = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
  return Buffer.concat([signature.subarray(0, 32), low]);
}

export function uncompressed(publicKey: Uint8Array): Uint8Array {
  return ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
}

type Ed25519Node = { readonly key: Buffer; readonly chain: Buffer };

/** SLIP-0010: every step is hardened. */
function ed25519At(seed: Buffer, path: string): Buffer {
  const split = (bytes: Buffer): Ed25519Node => ({ key: bytes.subarray(0, 32), chain: bytes.subarray(32) });
  let node = split(createHmac('sha512', 'ed25519 seed').update(seed).digest());
  for (const part of path.split('/').slice(1)) {
    const index = Buffer.alloc(4);
    index.writeUInt32BE(Number.parseInt(part, 10) + 0x80000000);
    const next = createHmac('sha512', node.chain)
      .update(Buffer.concat([Buffer.of(0), node.key, index]))
      .digest();
    node.key.fill(0);
    node = split(next);
  }
  return node.key;
}

/** The header of a private Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Works with the key of a path, and wipes it afterwards. */
function withEd25519<T>(
  seed: Buffer,
  path: string,
  work: (key: ReturnType<typeof createPrivateKey>) => T,
): T {
  const secret = ed25519At(seed, path);
  const der = Buffer.concat([PKCS8, secret]);
  try {
    return work(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  } finally {
    secret.fill(0);
    der.fill(0);
  }
}

/** `tpub` on test chains: wallets and nodes refuse the form of the main chain there. */
const TEST_VERSIONS = { private: 0x04358394, public: 0x043587cf };

function extendedKey(key: HDKey, isTest: boolean): string {
  if (!isTest) return key.publicExtendedKey;
  const { depth, index, parentFingerprint, chainCode, publicKey } = key;
  const parts = { depth, index, parentFingerprint, chainCode: chainCode!, publicKey: publicKey! };
  return new HDKey({ ...parts, versions: TEST_VERSIONS }).publicExtendedKey;
}

/** All keys of a seed. The caller gives the seed away: it is wiped on close. */
export function keysOfSeed(seed: Buffer): Keys {
  const root = HDKey.fromMasterSeed(seed);
  /** Keys of accounts, kept like the seed: to derive one takes longer than everything else that a signature needs. */
  const accounts = new Map<string, HDKey>();
  const publicKeys = new Map<string, Uint8Array>();
  function accountOf(path: string): HDKey {
    const found = accounts.get(path) ?? root.derive(path);
    accounts.set(path, found);
    return found;
  }
  function withSecp256k1<T>(path: string, work: (key: HDKey) => T): T {
    const [, account = 'm', rest = ''] = /^(m(?:\/[0-9]+')*)((?:\/[0-9]+)*)$/.exec(path) ?? [];
    if (rest === '') return work(accountOf(path));
    const key = accountOf(account).derive(`m${rest}`);
    try {
      return work(key);
    } finally {
      key.wipePrivateData();
    }
  }
  function publicKeyOf(path: string): Uint8Array {
    const found = publicKeys.get(path) ?? withSecp256k1(path, ({ publicKey }) => publicKey!.slice());
    if (publicKeys.size >= LIMITS.signerPublicKeysMax) publicKeys.clear();
    publicKeys.set(path, found);
    return found;
  }
  return {
    kind: 'sealed file',
    async publicKey({ curve, path }) {
      if (curve === 'secp256k1') return publicKeyOf(path);
      return withEd25519(seed, path, (key) =>
        createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32),
      );
    },
    async sign({ curve, path }, bytes) {
      // RFC 6979 and Ed25519: the same bytes always get the same signature.
      if (curve === 'secp256k1') return withSecp256k1(path, (key) => lowS(key.sign(bytes)));
      return withEd25519(seed, path, (key) => signEd25519(null, bytes, key));
    },
    xpub: (account, isTest = false) => withSecp256k1(account, (key) => extendedKey(key, isTest)),
    logKey: createHash('sha256').update('ferry signer log').update(seed).digest(),
    async close() {
      for (const key of [root, ...accounts.values()]) key.wipePrivateData();
      seed.fill(0);
    },
  };
}
