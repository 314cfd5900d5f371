import { ECDH } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Derived } from '../address-store.ts';
import { canonical } from './calls.ts';

/** Addresses for deposits, below an account xpub (BIP32, without private keys). Chain 0 has the lanes, chain 1 the deposits. */
export async function addressesBelow(xpub: string): Promise<(number: bigint) => Derived> {
  const { HDKey } = await import('@scure/bip32');
  const chain = HDKey.fromExtendedKey(xpub).deriveChild(1);
  return (number) => {
    const { publicKey } = chain.deriveChild(Number(number));
    const point = ECDH.convertKey(
      Buffer.from(publicKey!),
      'secp256k1',
      undefined,
      undefined,
      'uncompressed',
    ) as Buffer;
    // The address is the end of the hash of both coordinates, without the byte that says that there are two.
    const hash = keccak_256(point.subarray(1));
    return {
      address: canonical(`0x${Buffer.from(hash.subarray(-20)).toString('hex')}`),
      path: `1/${number}`,
    };
  };
}
