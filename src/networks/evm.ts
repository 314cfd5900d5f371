import { keccak_256 } from '@noble/hashes/sha3.js';
import { type AddressFamily, type Fault, hexDigits, hexOf, isOneCase } from './addresses.ts';

/** The addresses of Ethereum and of every network that runs its virtual machine. They are the same on all of them. */
export const EVM_ADDRESSES: AddressFamily = {
  chain: 'EVM',
  numbersOutputs: false,
  hasPrefix: false,
  fault,
  recognise: (address) => (/^0x[0-9a-f]{40}$/i.test(address) ? 'address' : undefined),
  canonical: (address) => (/^0x/i.test(address) ? `0x${eip55(address.slice(2).toLowerCase())}` : address),
  canonicalTxHash(hash) {
    const digits = hexDigits(hash);
    return digits === undefined ? hash : `0x${digits}`;
  },
  addressFrom: (seed) => `0x${eip55(hexOf(seed.subarray(0, 20)))}`,
  txHashFrom: (seed) => `0x${hexOf(seed.subarray(0, 32))}`,
};

function fault(address: string): Fault {
  if (!address.startsWith('0x')) return 'does not begin with 0x';
  const digits = address.slice(2);
  const stray = /[^0-9a-f]/i.exec(digits)?.[0];
  if (stray !== undefined) return `contains "${stray}", which is not a hexadecimal digit`;
  if (digits.length !== 40) return `has ${digits.length} hexadecimal digits, an EVM address has 40`;
  if (/^0+$/.test(digits)) return 'is the zero address';
  if (isOneCase(digits)) return undefined;
  return eip55(digits.toLowerCase()) === digits ? undefined : 'fails its EIP-55 checksum';
}

/** EIP-55: a letter is upper case where the digit of the hash in its place is 8 or more. */
function eip55(lower: string): string {
  const hash = hexOf(keccak_256(Buffer.from(lower)));
  return Array.from(lower, (digit, index) => (hash[index]! >= '8' ? digit.toUpperCase() : digit)).join('');
}
