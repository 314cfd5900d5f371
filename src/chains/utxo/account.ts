import { HDKey } from '@scure/bip32';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import { type Origin, readAccountText } from './account-key.ts';
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
  readonly origin: Origin;
};

export const CHANGE_PATH = '1/0';

export function readAccount(chain: Chain, text: string): Account {
  const { key, version, origin } = readAccountText(chain, text);
  const root = HDKey.fromExtendedKey(key, { public: version, private: 0 });
  return accountOf(chain, root, origin ?? { fingerprint: root.fingerprint, path: [] });
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
