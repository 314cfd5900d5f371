import { base58, bech32, bech32m } from '@scure/base';
import {
  type AddressFamily,
  base58Bytes,
  base58Version,
  base58WithChecksum,
  bech32Stray,
  canonicalUtxoHash,
  type Fault,
  type Form,
  hexOf,
  isBase58Checked,
  isOneCase,
  zeroHashFault,
} from './addresses.ts';

/** What sets one chain with Bitcoin's addresses apart from another. */
export type UtxoParameters = {
  readonly chain: string;
  /** What segwit addresses of the mainnet begin with, before the 1; null for a chain without segwit. */
  readonly segwitPrefix: string | null;
  /** Version bytes of the base58 addresses that can be paid. */
  readonly base58Versions: readonly number[];
  /** A version byte that another chain uses too, so that the address does not say which chain the payee meant. */
  readonly ambiguous?: { readonly version: number; readonly instead: string };
  /** Prefixes and version bytes that a refusal names. */
  readonly otherSegwitPrefixes: Readonly<Record<string, Form>>;
  readonly otherBase58Versions: Readonly<Record<number, Form>>;
  /** Version bytes of private keys in the wallet import format. */
  readonly privateKeyVersions: readonly number[];
};

const bech32LengthMax = 90;

export function utxoAddresses(parameters: UtxoParameters): AddressFamily {
  const { chain, segwitPrefix, base58Versions, ambiguous } = parameters;
  const letters = base58Versions.flatMap(firstLetters);
  const beginnings = segwitPrefix === null ? letters : [...letters, `${segwitPrefix}1`];
  const isSegwit = (address: string): boolean =>
    segwitPrefix !== null && address.toLowerCase().startsWith(`${segwitPrefix}1`);
  return {
    chain,
    numbersOutputs: true,
    hasPrefix: false,
    fault(address) {
      if (isSegwit(address)) return segwitFault(address, segwitPrefix!);
      const [first = ''] = address;
      if (ambiguous !== undefined && firstLetters(ambiguous.version).includes(first))
        return ambiguous.instead;
      if (!letters.includes(first)) return `does not begin with ${alternatives(beginnings)}`;
      return base58CheckFault(address, chain, base58Versions);
    },
    recognise: (address) => recognise(address, parameters),
    canonical: (address) => (isSegwit(address) ? address.toLowerCase() : address),
    canonicalTxHash: canonicalUtxoHash,
    addressFrom(seed) {
      const hash = seed.subarray(0, 20);
      if (segwitPrefix !== null) return bech32.encode(segwitPrefix, [0, ...bech32.toWords(hash)]);
      return base58WithChecksum(base58Versions[0]!, hash);
    },
    txHashFrom: (seed) => hexOf(seed.subarray(0, 32)),
  };
}

function recognise(address: string, parameters: UtxoParameters): Form | undefined {
  if (isPrivateKey(address, parameters.privateKeyVersions)) return 'private key';
  const lower = address.toLowerCase();
  const prefix = lower.slice(0, Math.max(0, lower.indexOf('1')));
  const bytes = base58Bytes(address);
  // The prefix is enough here: an ltc1 address with a typing error is still no Bitcoin address. But one Solana address in
  // 24,000 begins with bc1 or tb1 in some case; its mixture of cases shows that it is not bech32.
  if (isOneCase(address) || typeof bytes === 'string' || bytes.length !== 32) {
    if (prefix !== '' && prefix === parameters.segwitPrefix) return 'address';
    if (Object.hasOwn(parameters.otherSegwitPrefixes, prefix)) return parameters.otherSegwitPrefixes[prefix];
  }
  const version = base58Version(address);
  if (version === undefined) return undefined;
  const isOwn = parameters.base58Versions.includes(version) || parameters.ambiguous?.version === version;
  return isOwn ? 'address' : parameters.otherBase58Versions[version];
}

function isPrivateKey(address: string, versions: readonly number[]): boolean {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || (bytes.length !== 37 && bytes.length !== 38)) return false;
  return versions.includes(bytes[0]!) && isBase58Checked(bytes);
}

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The letters that base58 addresses with this version byte begin with: between the smallest and the largest one. */
function firstLetters(version: number): string[] {
  const [first, last] = [0x00, 0xff].map((fill) => {
    const bytes = new Uint8Array(25).fill(fill);
    bytes[0] = version;
    return BASE58_ALPHABET.indexOf(base58.encode(bytes).charAt(0));
  });
  return Array.from(BASE58_ALPHABET.slice(first, last! + 1));
}

function alternatives(words: readonly string[]): string {
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function base58CheckFault(address: string, chain: string, versions: readonly number[]): Fault {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string') return bytes;
  if (bytes.length !== 25) return `decodes to ${bytes.length} bytes, a base58 ${chain} address has 25`;
  if (!isBase58Checked(bytes)) return 'fails its base58 checksum';
  const version = bytes[0]!;
  if (!versions.includes(version))
    return `has version byte 0x${hexOf(bytes.subarray(0, 1))}, which is not ${chain}'s`;
  return zeroHashFault(bytes.subarray(1, 21));
}

function segwitFault(address: string, prefix: string): Fault {
  const lower = address.toLowerCase();
  if (!isOneCase(address)) return 'mixes upper and lower case';
  if (lower.length > bech32LengthMax) {
    return `is ${lower.length} characters long, a bech32 address has at most ${bech32LengthMax}`;
  }
  const data = lower.slice(prefix.length + 1);
  const stray = bech32Stray(data);
  if (stray !== undefined) return `contains "${stray}", which bech32 does not use`;
  if (data.length < 7) return 'is cut short';
  // BIP-350: version 0 ("q") carries a bech32 checksum and every later one a bech32m checksum.
  const [codec, checksum, otherCodec, otherChecksum] = data.startsWith('q')
    ? ([bech32, 'bech32', bech32m, 'bech32m'] as const)
    : ([bech32m, 'bech32m', bech32, 'bech32'] as const);
  const decoded = codec.decodeUnsafe(lower);
  if (!decoded) {
    return otherCodec.decodeUnsafe(lower)
      ? `has a ${otherChecksum} checksum where its witness version needs ${checksum}`
      : `fails its ${checksum} checksum`;
  }
  const [version, ...words] = decoded.words;
  // Until a soft fork gives a version rules, anyone may spend what was sent to it (BIP-141).
  if (version !== 0 && version !== 1) return `has witness version ${version}, only 0 and 1 are in use`;
  const program = bech32.fromWordsUnsafe(words);
  if (!program) return 'has stray padding bits';
  return version === 0 ? witnessZeroFault(program) : taprootFault(program);
}

function witnessZeroFault(program: Uint8Array): Fault {
  if (program.length !== 20 && program.length !== 32) {
    return `carries a ${program.length}-byte program, witness version 0 takes 20 or 32`;
  }
  return zeroHashFault(program);
}

function taprootFault(program: Uint8Array): Fault {
  // Anyone can spend from a version 1 program of another length (pay-to-anchor, for example).
  if (program.length !== 32) return `carries a ${program.length}-byte program, witness version 1 takes 32`;
  // Taproot carries a key, not a hash: half of all 32-byte strings are no key, and nobody can spend from those.
  return isCurveX(program) ? undefined : 'carries a taproot key that is not on the secp256k1 curve';
}

/** Whether some point of secp256k1 has this x: whether x³ + 7 is a square, by Euler's criterion. */
function isCurveX(bytes: Uint8Array): boolean {
  const prime = 2n ** 256n - 2n ** 32n - 977n;
  const x = BigInt(`0x${hexOf(bytes)}`);
  if (x >= prime) return false;
  let base = (x * x * x + 7n) % prime;
  let power = 1n;
  for (let exponent = (prime - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) power = (power * base) % prime;
    base = (base * base) % prime;
  }
  return power === 1n;
}
