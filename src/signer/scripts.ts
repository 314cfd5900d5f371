import { createHash } from 'node:crypto';
import { bech32, bech32m } from '@scure/base';
import { base58Bytes, bech32Alphabet, isBase58Checked } from '../networks/addresses.ts';

/** Addresses of UTXO networks as the scripts that they stand for. Outputs are compared by script, not by a form of an address. */

export type UtxoChain = {
  readonly account: string;
  /** Of the addresses that withdrawals may name; the script of an address is the same on the test chains. */
  readonly segwit: readonly string[];
  readonly base58: { readonly keyHash: readonly number[]; readonly scriptHash: readonly number[] };
  readonly cashaddr: readonly string[];
  /** What a signature covers: everything; Bitcoin Cash adds a flag against replay on Bitcoin. */
  readonly sighash: number;
};

const NONE = { keyHash: [], scriptHash: [] };

/** By the chain's name in the register of networks. */
const CHAINS = new Map<string, UtxoChain>([
  [
    'Bitcoin',
    {
      account: "m/84'/0'/0'",
      segwit: ['bc', 'tb', 'bcrt'],
      base58: { keyHash: [0x00, 0x6f], scriptHash: [0x05, 0xc4] },
      cashaddr: [],
      sighash: 0x01,
    },
  ],
  [
    'Litecoin',
    {
      account: "m/84'/2'/0'",
      segwit: ['ltc', 'tltc', 'rltc'],
      base58: { keyHash: [0x30, 0x6f], scriptHash: [0x32, 0x3a] },
      cashaddr: [],
      sighash: 0x01,
    },
  ],
  [
    'Bitcoin Cash',
    {
      account: "m/44'/145'/0'",
      segwit: [],
      base58: NONE,
      cashaddr: ['bitcoincash', 'bchtest', 'bchreg'],
      sighash: 0x41,
    },
  ],
]);

export const utxoChain = (chain: string): UtxoChain | undefined => CHAINS.get(chain);

export const hash160 = (bytes: Uint8Array): Buffer =>
  createHash('ripemd160').update(createHash('sha256').update(bytes).digest()).digest();

/** OP_DUP OP_HASH160 <hash> OP_EQUALVERIFY OP_CHECKSIG */
export const keyHashScript = (hash: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(0x76, 0xa9, 20), hash, Buffer.of(0x88, 0xac)]);
/** OP_HASH160 (or OP_HASH256) <hash> OP_EQUAL */
const scriptHashScript = (hash: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(hash.length === 32 ? 0xaa : 0xa9, hash.length), hash, Buffer.of(0x87)]);

/** The script of the wallet's own coins, and what a signature for one covers in its place. */
export function ownScript({ segwit }: UtxoChain, publicKey: Uint8Array): { script: Buffer; covered: Buffer } {
  const hash = hash160(publicKey);
  const covered = keyHashScript(hash);
  return { covered, script: segwit.length > 0 ? Buffer.concat([Buffer.of(0, 20), hash]) : covered };
}

function segwitScript(address: string, prefixes: readonly string[]): Buffer | undefined {
  const lower = address.toLowerCase();
  const prefix = prefixes.find((one) => lower.startsWith(`${one}1`));
  if (prefix === undefined) return undefined;
  const codec = lower.charAt(prefix.length + 1) === 'q' ? bech32 : bech32m;
  const decoded = codec.decodeUnsafe(lower);
  if (!decoded) return undefined;
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (!program || version === undefined || version > 16) return undefined;
  return Buffer.concat([Buffer.of(version === 0 ? 0 : 0x50 + version, program.length), program]);
}

function base58Script(address: string, { keyHash, scriptHash }: UtxoChain['base58']): Buffer | undefined {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || bytes.length !== 25 || !isBase58Checked(bytes)) return undefined;
  const hash = bytes.subarray(1, 21);
  if (keyHash.includes(bytes[0]!)) return keyHashScript(hash);
  return scriptHash.includes(bytes[0]!) ? scriptHashScript(hash) : undefined;
}

const CHECKSUM_WORDS = 8;
/** Of a cashaddr version byte: three bits for the length of the hash. */
const HASH_BYTES = [20, 24, 28, 32, 40, 48, 56, 64];

/** The checksum was verified when the withdrawal was created; a wrong one here only leads to a refusal. */
function cashScript(address: string, prefixes: readonly string[]): Buffer | undefined {
  const [prefix, data = ''] = address.toLowerCase().split(':');
  if (!prefixes.includes(prefix!)) return undefined;
  const words = Array.from(data, (letter) => bech32Alphabet.indexOf(letter));
  if (words.includes(-1) || words.length <= CHECKSUM_WORDS) return undefined;
  const bytes = bech32.fromWordsUnsafe(words.slice(0, -CHECKSUM_WORDS));
  if (!bytes) return undefined;
  const [version = 0xff] = bytes;
  const hash = bytes.subarray(1);
  if (hash.length !== HASH_BYTES[version & 7] || hash.length > 32) return undefined;
  if (version >> 3 === 0) return hash.length === 20 ? keyHashScript(hash) : undefined;
  return version >> 3 === 1 ? scriptHashScript(hash) : undefined;
}

/** Undefined if the text is not an address of the chain. */
export function scriptOf({ segwit, base58, cashaddr }: UtxoChain, address: string): Buffer | undefined {
  return segwitScript(address, segwit) ?? cashScript(address, cashaddr) ?? base58Script(address, base58);
}
