import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m } from '@scure/base';

// Is this text a destination that a payment on this mainnet can be sent to, and if not, why not?
//
// Built on two small codecs and node's own sha256, because every process loads this file at start. Import on
// node 24, median of 25: @scure/base and @noble/hashes/sha3 10 ms and 5 MB together; @scure/btc-signer 63 ms
// and 9 MB, @solana/kit 142 ms and 25 MB, @bitauth/libauth 169 ms and 32 MB, viem 288 ms and 34 MB. Those four
// are the oracles of address.test.ts instead.
//
// A payment cannot be called back, so whatever is ambiguous is refused, with a clause that says what to give.

export const CRYPTO_NETWORKS = [
  'BITCOIN',
  'ETHEREUM',
  'BITCOIN_CASH',
  'LITECOIN',
  'SOLANA',
  'POLYGON_POS',
  'BASE',
  'ARBITRUM_ONE',
  'INK',
] as const;

export type CryptoNetwork = (typeof CRYPTO_NETWORKS)[number];

type Fault = string | undefined;

/** Those whose addresses look alike; Dogecoin and Tron are here only to be named in a refusal. */
type Chain = 'Bitcoin' | 'Bitcoin Cash' | 'Litecoin' | 'Solana' | 'EVM' | 'Dogecoin' | 'Tron';

type Network = { name: string; chain: Chain; fault: (address: string) => Fault };

const networks: Record<CryptoNetwork, Network> = {
  BITCOIN: { name: 'Bitcoin', chain: 'Bitcoin', fault: bitcoinFault },
  ETHEREUM: { name: 'Ethereum', chain: 'EVM', fault: evmFault },
  BITCOIN_CASH: { name: 'Bitcoin Cash', chain: 'Bitcoin Cash', fault: bitcoinCashFault },
  LITECOIN: { name: 'Litecoin', chain: 'Litecoin', fault: litecoinFault },
  SOLANA: { name: 'Solana', chain: 'Solana', fault: solanaFault },
  POLYGON_POS: { name: 'Polygon', chain: 'EVM', fault: evmFault },
  BASE: { name: 'Base', chain: 'EVM', fault: evmFault },
  ARBITRUM_ONE: { name: 'Arbitrum', chain: 'EVM', fault: evmFault },
  INK: { name: 'Ink', chain: 'EVM', fault: evmFault },
};

// The longest text worth naming is a Litecoin MWEB address (121). Base58 costs the square of the length to
// decode, so it has a bound of its own: the longest text worth naming there is a private key (52).
const addressLengthMax = 128;
const base58LengthMax = 64;
const bech32LengthMax = 90;

/**
 * undefined when `address` can be paid on the mainnet of `network`; otherwise one clause that says what is
 * wrong, to follow "destination_address ".
 */
export function addressFault(network: CryptoNetwork, address: string): Fault {
  const unreadable = textFault(address);
  if (unreadable !== undefined) return unreadable;
  const { name, chain, fault } = networks[network];
  const own = fault(address);
  if (own === undefined) return undefined;
  // "is a Litecoin address" helps more than "fails its base58 checksum", so that is looked for first.
  return foreignFault(address, chain, name) ?? own;
}

function textFault(address: string): Fault {
  if (address === '') return 'is empty';
  if (address.length > addressLengthMax) {
    return `is ${address.length} characters long, no address has more than ${addressLengthMax}`;
  }
  if (address.trim() !== address) return 'begins or ends with white space';
  const stray = /[^\x21-\x7e]/u.exec(address)?.[0].codePointAt(0);
  if (stray === undefined) return undefined;
  return `contains U+${stray.toString(16).toUpperCase().padStart(4, '0')}, an address is printable ASCII without spaces`;
}

// ---- Bitcoin and Litecoin ----

function bitcoinFault(address: string): Fault {
  if (address.toLowerCase().startsWith('bc1')) return segwitFault(address, 'bc');
  if (!/^[13]/.test(address)) return 'does not begin with 1, 3 or bc1';
  return base58CheckFault(address, 'Bitcoin', [0x00, 0x05]);
}

function litecoinFault(address: string): Fault {
  if (address.toLowerCase().startsWith('ltc1')) return segwitFault(address, 'ltc');
  // Litecoin's first P2SH addresses are byte for byte Bitcoin's. The same script has an M form too, and only
  // that one shows that the payee meant Litecoin.
  if (address.startsWith('3'))
    return 'begins with 3 as a Bitcoin address does, give its form that begins with M';
  if (!/^[LM]/.test(address)) return 'does not begin with L, M or ltc1';
  return base58CheckFault(address, 'Litecoin', [0x30, 0x32]);
}

function base58CheckFault(address: string, name: string, versions: readonly number[]): Fault {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string') return bytes;
  if (bytes.length !== 25) return `decodes to ${bytes.length} bytes, a base58 ${name} address has 25`;
  if (!isBase58Checked(bytes)) return 'fails its base58 checksum';
  const version = bytes[0]!;
  if (!versions.includes(version))
    return `has version byte 0x${hexOf(bytes.subarray(0, 1))}, which is not ${name}'s`;
  return zeroHashFault(bytes.subarray(1, 21));
}

/** The bytes, or the fault. */
function base58Bytes(address: string): Uint8Array | string {
  if (address.length > base58LengthMax) {
    return `is ${address.length} characters long, a base58 address has at most 44`;
  }
  const stray = /[^1-9A-HJ-NP-Za-km-z]/.exec(address)?.[0];
  if (stray !== undefined) return `contains "${stray}", which base58 does not use`;
  return base58.decode(address);
}

function isBase58Checked(bytes: Uint8Array): boolean {
  const sum = sha256(sha256(bytes.subarray(0, -4)));
  return bytes.subarray(-4).every((byte, index) => byte === sum[index]);
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
  // A version 1 program of another length (pay-to-anchor, say) can be spent by anyone.
  if (program.length !== 32) return `carries a ${program.length}-byte program, witness version 1 takes 32`;
  // Taproot carries a key, not a hash: half of all 32-byte strings are no key, and are spendable by no one.
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

// ---- Bitcoin Cash ----

const cashPrefixes = ['bitcoincash', 'bchtest', 'bchreg'] as const;
export const bech32Alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const cashGenerators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n] as const;
const cashHashLengths = [20, 24, 28, 32, 40, 48, 56, 64] as const;

function bitcoinCashFault(address: string): Fault {
  const lower = address.toLowerCase();
  const colon = lower.indexOf(':');
  if (colon >= 0 && lower.slice(0, colon) !== 'bitcoincash') {
    return `has the prefix "${address.slice(0, colon)}", a Bitcoin Cash address has "bitcoincash"`;
  }
  if (isLegacy(address)) {
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
  if (!isCashChecked('bitcoincash', data)) return 'fails its cashaddr checksum';
  const bytes = bech32.fromWordsUnsafe(wordsOf(data).slice(0, -8));
  if (!bytes) return 'has stray padding bits';
  return cashPayloadFault(bytes);
}

function cashPayloadFault(bytes: Uint8Array): Fault {
  const version = bytes[0] ?? 0;
  const hash = bytes.subarray(1);
  const named = cashHashLengths[version & 7]!;
  if (hash.length !== named) return `carries a ${hash.length}-byte hash where its version byte says ${named}`;
  const isScript = (version >> 3) % 2 === 1;
  if (hash.length === 20 || (isScript && hash.length === 32)) return zeroHashFault(hash);
  return `carries a ${hash.length}-byte hash, ${isScript ? 'P2SH takes 20 or 32' : 'P2PKH takes 20'}`;
}

/** Whether the text after the colon has the checksum that this prefix gives it. */
function isCashChecked(prefix: string, data: string): boolean {
  return cashSum(prefix, wordsOf(data)) === 1n;
}

/** The polynomial of cashaddr over its prefix and 5-bit words; 1 when the last eight of them are the checksum. */
export function cashSum(prefix: string, words: readonly number[]): bigint {
  let sum = 1n;
  for (const word of [...Array.from(prefix, (letter) => letter.charCodeAt(0) & 31), 0, ...words]) {
    const top = Number(sum >> 35n);
    sum = ((sum & 0x7ffffffffn) << 5n) ^ BigInt(word);
    for (const [bit, generator] of cashGenerators.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  return sum;
}

function isLegacy(address: string): boolean {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || bytes.length !== 25 || !isBase58Checked(bytes)) return false;
  return bytes[0] === 0x00 || bytes[0] === 0x05;
}

// ---- EVM networks and Solana ----

function evmFault(address: string): Fault {
  if (!address.startsWith('0x')) return 'does not begin with 0x';
  const digits = address.slice(2);
  const stray = /[^0-9a-f]/i.exec(digits)?.[0];
  if (stray !== undefined) return `contains "${stray}", which is not a hexadecimal digit`;
  if (digits.length !== 40) return `has ${digits.length} hexadecimal digits, an EVM address has 40`;
  if (/^0+$/.test(digits)) return 'is the zero address';
  const lower = digits.toLowerCase();
  if (isOneCase(digits)) return undefined;
  return eip55(lower) === digits ? undefined : 'fails its EIP-55 checksum';
}

/** EIP-55: a letter is upper case where the digit of the hash in its place is 8 or more. */
export function eip55(lower: string): string {
  const hash = hexOf(keccak_256(Buffer.from(lower)));
  return Array.from(lower, (digit, index) => (hash[index]! >= '8' ? digit.toUpperCase() : digit)).join('');
}

/** Whether a transaction numbers its outputs: where coins are spent and made (UTXO), not where accounts are changed. */
export function hasNumberedOutputs(network: CryptoNetwork): boolean {
  const { chain } = networks[network];
  return chain === 'Bitcoin' || chain === 'Bitcoin Cash' || chain === 'Litecoin';
}

/** One form for the addresses that can be written in several. */
export function canonicalAddress(network: CryptoNetwork, address: string): string {
  const lower = address.toLowerCase();
  if (lower.startsWith('0x')) return `0x${eip55(lower.slice(2))}`;
  if (network === 'BITCOIN_CASH') return lower.includes(':') ? lower : `bitcoincash:${lower}`;
  return /^(bc|ltc)1/.test(lower) && network !== 'SOLANA' ? lower : address;
}

/** Hexadecimal is written in either case, with or without 0x; base58, which Solana uses, means something else then. */
export function canonicalTxHash(network: CryptoNetwork, hash: string): string {
  const { chain } = networks[network];
  const digits = chain === 'Solana' ? undefined : /^(?:0x)?([0-9a-f]+)$/i.exec(hash)?.[1];
  if (digits === undefined) return hash;
  return chain === 'EVM' ? `0x${digits.toLowerCase()}` : digits.toLowerCase();
}

function solanaFault(address: string): Fault {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string') return bytes;
  if (bytes.length !== 32) return `decodes to ${bytes.length} bytes, a Solana address has 32`;
  // A key off the curve is let through: vaults of programs (a multisig, say) are paid at such addresses.
  return bytes.every((byte) => byte === 0) ? 'is the System Program, not a wallet' : undefined;
}

// ---- Whose address is it, when it is not ours? ----

/** `form` is empty for a plain mainnet address; more than one chain where they share the text. */
type Kind = { chains: readonly [Chain, ...Chain[]]; form: '' | ' testnet' | ' regtest' | ' MWEB' };

const kindsBySegwitPrefix = new Map<string, Kind>([
  ['bc', { chains: ['Bitcoin'], form: '' }],
  ['tb', { chains: ['Bitcoin'], form: ' testnet' }],
  ['bcrt', { chains: ['Bitcoin'], form: ' regtest' }],
  ['ltc', { chains: ['Litecoin'], form: '' }],
  ['tltc', { chains: ['Litecoin'], form: ' testnet' }],
  ['rltc', { chains: ['Litecoin'], form: ' regtest' }],
  ['ltcmweb', { chains: ['Litecoin'], form: ' MWEB' }],
]);

const kindsByCashPrefix = {
  bitcoincash: { chains: ['Bitcoin Cash'], form: '' },
  bchtest: { chains: ['Bitcoin Cash'], form: ' testnet' },
  bchreg: { chains: ['Bitcoin Cash'], form: ' regtest' },
} as const satisfies Record<string, Kind>;

const kindsByVersion = new Map<number, Kind>([
  [0x00, { chains: ['Bitcoin', 'Bitcoin Cash'], form: '' }],
  [0x05, { chains: ['Bitcoin', 'Bitcoin Cash', 'Litecoin'], form: '' }],
  [0x30, { chains: ['Litecoin'], form: '' }],
  [0x32, { chains: ['Litecoin'], form: '' }],
  [0x3a, { chains: ['Litecoin'], form: ' testnet' }],
  [0x6f, { chains: ['Bitcoin', 'Bitcoin Cash', 'Litecoin'], form: ' testnet' }],
  [0xc4, { chains: ['Bitcoin', 'Bitcoin Cash', 'Litecoin'], form: ' testnet' }],
  [0x16, { chains: ['Dogecoin'], form: '' }],
  [0x1e, { chains: ['Dogecoin'], form: '' }],
  [0x41, { chains: ['Tron'], form: '' }],
]);

function foreignFault(address: string, chain: Chain, name: string): Fault {
  if (isPrivateKey(address)) return 'is a private key, not an address';
  const kind = kindOf(address);
  if (kind?.chains.includes(chain)) {
    return kind.form === '' ? undefined : `is ${withArticle(chain)}${kind.form} address`;
  }
  if (kind) return `is ${withArticle(kind.chains[0])}${kind.form} address, not ${withArticle(name)} one`;
  if (chain !== 'Bitcoin Cash' && address.includes(':')) return 'is a URI, give the bare address';
  return undefined;
}

function kindOf(address: string): Kind | undefined {
  if (/^0x[0-9a-f]{40}$/i.test(address)) return { chains: ['EVM'], form: '' };
  const lower = address.toLowerCase();
  const bytes = base58Bytes(address);
  const isSolana = typeof bytes !== 'string' && bytes.length === 32;
  // The prefix is enough here: an ltc1 address with a typing error is still no Bitcoin address. But one Solana
  // address in 24,000 begins with bc1 or tb1 in some case, and by its mixture of cases is not bech32.
  const segwit = kindsBySegwitPrefix.get(lower.slice(0, Math.max(0, lower.indexOf('1'))));
  if (segwit && (isOneCase(address) || !isSolana)) return segwit;
  const cash = cashPrefixes.find(
    (prefix) => lower.startsWith(`${prefix}:`) || (!bech32Stray(lower) && isCashChecked(prefix, lower)),
  );
  if (cash) return kindsByCashPrefix[cash];
  if (isSolana) return { chains: ['Solana'], form: '' };
  if (typeof bytes === 'string' || bytes.length !== 25 || !isBase58Checked(bytes)) return undefined;
  return kindsByVersion.get(bytes[0]!);
}

/** The wallet import format of Bitcoin (0x80), Litecoin (0xb0) and their testnets (0xef). */
function isPrivateKey(address: string): boolean {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || (bytes.length !== 37 && bytes.length !== 38)) return false;
  return [0x80, 0xb0, 0xef].includes(bytes[0]!) && isBase58Checked(bytes);
}

// ---- Small parts ----

/** A hash of zeros comes from a buffer that nobody filled, and nobody can spend from it. */
function zeroHashFault(hash: Uint8Array): Fault {
  return hash.every((byte) => byte === 0) ? 'carries a hash of zeros' : undefined;
}

function isOneCase(text: string): boolean {
  return text === text.toLowerCase() || text === text.toUpperCase();
}

function bech32Stray(data: string): string | undefined {
  return /[^qpzry9x8gf2tvdw0s3jn54khce6mua7l]/.exec(data)?.[0];
}

function wordsOf(data: string): number[] {
  return Array.from(data, (letter) => bech32Alphabet.indexOf(letter));
}

function withArticle(name: string): string {
  return /^[AEI]/.test(name) ? `an ${name}` : `a ${name}`;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
