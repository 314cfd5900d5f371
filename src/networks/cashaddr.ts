import { bech32 } from '@scure/base';
import {
  type AddressFamily,
  base58Version,
  bech32Alphabet,
  bech32Stray,
  canonicalUtxoHash,
  type Fault,
  type Form,
  hexOf,
  isOneCase,
  zeroHashFault,
} from './addresses.ts';

/** Bitcoin Cash. Its legacy addresses are byte for byte Bitcoin's, so only the cashaddr form is accepted. */

const FORMS_BY_PREFIX = {
  bitcoincash: 'address',
  bchtest: 'testnet address',
  bchreg: 'regtest address',
} as const satisfies Record<string, Form>;
const PREFIXES = Object.keys(FORMS_BY_PREFIX) as (keyof typeof FORMS_BY_PREFIX)[];
const LEGACY_VERSIONS: Readonly<Record<number, Form>> = {
  0: 'address',
  5: 'address',
  111: 'testnet address',
  196: 'testnet address',
};

const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n] as const;
const hashLengths = [20, 24, 28, 32, 40, 48, 56, 64] as const;

export const BITCOIN_CASH_ADDRESSES: AddressFamily = {
  chain: 'Bitcoin Cash',
  numbersOutputs: true,
  hasPrefix: true,
  fault,
  recognise(address) {
    const lower = address.toLowerCase();
    const prefix = PREFIXES.find(
      (one) => lower.startsWith(`${one}:`) || (!bech32Stray(lower) && isChecked(one, lower)),
    );
    if (prefix !== undefined) return FORMS_BY_PREFIX[prefix];
    const version = base58Version(address);
    return version === undefined ? undefined : LEGACY_VERSIONS[version];
  },
  canonical(address) {
    const lower = address.toLowerCase();
    return lower.includes(':') ? lower : `bitcoincash:${lower}`;
  },
  canonicalTxHash: canonicalUtxoHash,
  addressFrom: (seed) => cashaddrOf('bitcoincash', false, seed.subarray(0, 20)),
  txHashFrom: (seed) => hexOf(seed.subarray(0, 32)),
};

/** The address of a hash of a key or of a script: a version byte and the hash, then eight words of checksum. */
export function cashaddrOf(prefix: string, isScript: boolean, hash: Uint8Array): string {
  const size = hashLengths.indexOf(hash.length as (typeof hashLengths)[number]);
  const words = bech32.toWords(Uint8Array.of((isScript ? 8 : 0) + size, ...hash));
  const sum = checksumOf(prefix, [...words, 0, 0, 0, 0, 0, 0, 0, 0]) ^ 1n;
  const checksum = Array.from({ length: 8 }, (_, index) => Number((sum >> BigInt(5 * (7 - index))) & 31n));
  return `${prefix}:${[...words, ...checksum].map((word) => bech32Alphabet[word]).join('')}`;
}

/** The hash that an address with this prefix stands for; undefined if the text is none. */
export function readCashaddr(
  prefix: string,
  address: string,
): { readonly isScript: boolean; readonly hash: Uint8Array } | undefined {
  const lower = isOneCase(address) ? address.toLowerCase() : '';
  const data = lower.startsWith(`${prefix}:`) ? lower.slice(prefix.length + 1) : lower;
  if (data.length < 8 || bech32Stray(data) !== undefined || !isChecked(prefix, data)) return undefined;
  const bytes = bech32.fromWordsUnsafe(wordsOf(data).slice(0, -8));
  if (!bytes || payloadFault(bytes) !== undefined) return undefined;
  return { isScript: (bytes[0]! >> 3) % 2 === 1, hash: bytes.subarray(1) };
}

function fault(address: string): Fault {
  const lower = address.toLowerCase();
  const colon = lower.indexOf(':');
  if (colon >= 0 && lower.slice(0, colon) !== 'bitcoincash') {
    return `has the prefix "${address.slice(0, colon)}", a Bitcoin Cash address has "bitcoincash"`;
  }
  const version = base58Version(address);
  if (version === 0x00 || version === 0x05) {
    return 'is a legacy address, which Bitcoin shares, give its cashaddr form (bitcoincash:...)';
  }
  // The first letter is the type: q P2PKH, p P2SH, and z and r the same two from a wallet that also takes
  // CashTokens. Their locking scripts are the same, so coin can be sent to all four.
  const data = lower.slice(colon + 1);
  if (!/^[qpzr]/.test(data)) {
    return colon < 0
      ? 'does not begin with q, p, z, r or bitcoincash:'
      : 'does not have q, p, z or r after its prefix';
  }
  if (!isOneCase(address)) return 'mixes upper and lower case';
  const stray = bech32Stray(data);
  if (stray !== undefined) return `contains "${stray}", which cashaddr does not use`;
  if (!isChecked('bitcoincash', data)) return 'fails its cashaddr checksum';
  const bytes = bech32.fromWordsUnsafe(wordsOf(data).slice(0, -8));
  return bytes ? payloadFault(bytes) : 'has stray padding bits';
}

function payloadFault(bytes: Uint8Array): Fault {
  const version = bytes[0] ?? 0;
  const hash = bytes.subarray(1);
  const named = hashLengths[version & 7]!;
  if (hash.length !== named) return `carries a ${hash.length}-byte hash where its version byte says ${named}`;
  const isScript = (version >> 3) % 2 === 1;
  if (hash.length === 20 || (isScript && hash.length === 32)) return zeroHashFault(hash);
  return `carries a ${hash.length}-byte hash, ${isScript ? 'P2SH takes 20 or 32' : 'P2PKH takes 20'}`;
}

/** Whether the text after the colon has the checksum that this prefix gives it. */
function isChecked(prefix: string, data: string): boolean {
  return checksumOf(prefix, wordsOf(data)) === 1n;
}

/** The polynomial of cashaddr over its prefix and 5-bit words; 1 when the last eight of them are the checksum. */
function checksumOf(prefix: string, words: readonly number[]): bigint {
  let sum = 1n;
  for (const word of [...Array.from(prefix, (letter) => letter.charCodeAt(0) & 31), 0, ...words]) {
    const top = Number(sum >> 35n);
    sum = ((sum & 0x7ffffffffn) << 5n) ^ BigInt(word);
    for (const [bit, generator] of generators.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  return sum;
}

function wordsOf(data: string): number[] {
  return Array.from(data, (letter) => bech32Alphabet.indexOf(letter));
}
