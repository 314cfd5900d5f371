import { createPrivateKey, createPublicKey } from 'node:crypto';
import { base58 } from '@scure/base';
import { type AddressFamily, base58Bytes, type Fault } from './addresses.ts';

export const SOLANA_ADDRESSES: AddressFamily = {
  chain: 'Solana',
  numbersOutputs: false,
  hasPrefix: false,
  fault,
  recognise(address) {
    const bytes = base58Bytes(address);
    return typeof bytes !== 'string' && bytes.length === 32 ? 'address' : undefined;
  },
  // Base58 is case-sensitive, so addresses and hashes have one form only.
  canonical: (address) => address,
  canonicalTxHash: (hash) => hash,
  /** A real key of the curve, because wallets refuse others. */
  addressFrom(seed) {
    const header = Buffer.from('302e020100300506032b657004220420', 'hex');
    const pkcs8 = Buffer.concat([header, seed.subarray(0, 32)]);
    const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }));
    return base58.encode(key.export({ format: 'der', type: 'spki' }).subarray(-32));
  },
  txHashFrom: (seed) => base58.encode(seed.subarray(0, 64)),
};

function fault(address: string): Fault {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string') return bytes;
  if (bytes.length !== 32) return `decodes to ${bytes.length} bytes, a Solana address has 32`;
  // A key off the curve is accepted: vaults of programs (a multisig, for example) are paid at such addresses.
  return bytes.every((byte) => byte === 0) ? 'is the System Program, not a wallet' : undefined;
}
