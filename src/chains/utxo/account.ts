import { HDKey } from '@scure/bip32';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import { hash160 } from './bytes.ts';
import type { Chain } from './chain.ts';
import { addressOf, walletScript } from './script.ts';

/**
 * The wallet's public side: an account by BIP-44 or BIP-84, from which all of its addresses follow. Branch 0 has the addresses
 * for deposits. All change goes to the first address of branch 1: other wallets that are given the account find it, and
 * everybody can see which payments a service makes from one wallet anyway.
 */
export type Account = {
  /** Throws if the path is not below the account, such as `0/17`. */
  keyAt(path: string): AccountKey;
  readonly change: AccountKey;
};

export type AccountKey = {
  readonly path: string;
  readonly publicKey: Uint8Array;
  readonly keyHash: Uint8Array;
  readonly script: Uint8Array;
  readonly address: string;
  /** Where the key is below the master key, for signers of other makes. */
  readonly origin: { readonly fingerprint: number; readonly path: readonly number[] };
};

export const CHANGE_PATH = '1/0';

const HARDENED = 0x8000_0000;
/** Of the main chain and of test ones: BIP-32, and BIP-84's own for the same keys. */
const VERSIONS: Readonly<Record<string, number>> = {
  xpub: 0x0488b21e,
  tpub: 0x043587cf,
  zpub: 0x04b24746,
  vpub: 0x045f1cf6,
};

type Origin = { readonly fingerprint: number; readonly path: readonly number[] };

function readOrigin(text: string): Origin {
  const [fingerprint, ...steps] = text.split('/');
  const path = steps.map((step) => Number.parseInt(step, 10) + (/['h]$/.test(step) ? HARDENED : 0));
  return { fingerprint: Number.parseInt(fingerprint!, 16), path };
}

const FORM = /^(?:\[([0-9a-f]{8}(?:\/\d{1,9}['h]?)*)\])?([xtzv]pub[1-9A-HJ-NP-Za-km-z]{100,120})$/;

/** An extended public key, optionally with its origin, as output descriptors write it: `[d34db33f/84h/0h/0h]xpub6…`. */
export function readAccount(chain: Chain, text: string): Account {
  const match = FORM.exec(text);
  if (match === null) throw new Error('is no extended public key (xpub, zpub, tpub or vpub)');
  const key = match[2]!;
  const version = VERSIONS[key.slice(0, 4)]!;
  if ((key.startsWith('x') || key.startsWith('z')) !== (chain.name === 'main'))
    throw new Error(`is a key of ${chain.name === 'main' ? 'a test chain' : 'the main chain'}`);
  let root: HDKey;
  try {
    root = HDKey.fromExtendedKey(key, { public: version, private: 0 });
  } catch {
    throw new Error('is an extended public key with a typing error');
  }
  const origin = match[1] === undefined ? { fingerprint: root.fingerprint, path: [] } : readOrigin(match[1]);
  return accountOf(chain, root, origin);
}

export function accountOf(chain: Chain, root: HDKey, origin: Origin): Account {
  const keys = new Map<string, AccountKey>();
  const keyAt = (path: string): AccountKey => {
    const known = keys.get(path);
    if (known !== undefined) return known;
    if (!/^[01]\/\d{1,9}$/.test(path)) throw new Error(`${path} is no path below the account`);
    const steps = path.split('/').map(Number);
    const publicKey = steps.reduce((key, step) => key.deriveChild(step), root).publicKey!;
    const keyHash = hash160(publicKey);
    const script = walletScript(chain, keyHash);
    const { fingerprint } = origin;
    const address = addressOf(chain, script)!;
    const key = {
      path,
      publicKey,
      keyHash,
      script,
      address,
      origin: { fingerprint, path: [...origin.path, ...steps] },
    };
    if (keys.size >= UTXO_LIMITS.keysMax) keys.clear();
    keys.set(path, key);
    return key;
  };
  return { keyAt, change: keyAt(CHANGE_PATH) };
}
