import { createHash } from 'node:crypto';
import { SignerError } from './failure.ts';
import { type KeyName, type Keys, lowS } from './keys.ts';

/** Keys that never leave a token or a service. Each has a name there; they are not hierarchical, and only of secp256k1. */
export type Holder = {
  readonly kind: string;
  /** Compressed. */
  publicKey(name: string): Promise<Uint8Array>;
  /** r and s, of a digest. */
  sign(name: string, digest: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
};

export function keysOfHolder(holder: Holder, names: ReadonlyMap<string, string>, logSecret: Buffer): Keys {
  function nameOf({ curve, path }: KeyName): string {
    const name = curve === 'secp256k1' ? names.get(path) : undefined;
    if (name !== undefined) return name;
    throw new SignerError(
      `keys.keys has no key for ${path} (${curve}): ${holder.kind} holds single keys of secp256k1, for the lanes of EVM networks.`,
    );
  }
  const known = new Map<string, Uint8Array>();
  return {
    kind: holder.kind,
    async publicKey(key) {
      const name = nameOf(key);
      const found = known.get(name) ?? (await holder.publicKey(name));
      known.set(name, found);
      return found;
    },
    sign: async (key, bytes) => lowS(await holder.sign(nameOf(key), bytes)),
    xpub: () => undefined,
    logKey: createHash('sha256').update('ferry signer log').update(logSecret).digest(),
    close: () => holder.close(),
  };
}

/** The compressed form of an uncompressed point: 04, x, y. */
export function compressed(point: Uint8Array): Uint8Array {
  if (point.length !== 65 || point[0] !== 4) throw new Error('the public key is not an uncompressed point');
  return Buffer.concat([Buffer.of(point[64]! % 2 === 0 ? 2 : 3), point.subarray(1, 33)]);
}
