import { bech32, bech32m } from '@scure/base';
import { base58Bytes, base58WithChecksum, isBase58Checked } from '../../networks/addresses.ts';
import { cashaddrOf, readCashaddr } from '../../networks/cashaddr.ts';
import type { AddressForm, Chain } from './chain.ts';

/** Addresses and the locking scripts that they stand for. Fast, because a scan looks at every output of every block. */

const OP = {
  zero: 0x00,
  one: 0x51,
  dup: 0x76,
  equal: 0x87,
  equalVerify: 0x88,
  hash160: 0xa9,
  hash256: 0xaa,
  check: 0xac,
};

export const keyHashScript = (hash: Uint8Array): Uint8Array =>
  Uint8Array.of(OP.dup, OP.hash160, 20, ...hash, OP.equalVerify, OP.check);
const scriptHashScript = (hash: Uint8Array): Uint8Array =>
  Uint8Array.of(hash.length === 32 ? OP.hash256 : OP.hash160, hash.length, ...hash, OP.equal);
export const witnessScript = (version: number, program: Uint8Array): Uint8Array =>
  Uint8Array.of(version === 0 ? OP.zero : OP.one + version - 1, program.length, ...program);

/** The script that the wallet's own coins have: of the hash of a key. */
export function walletScript(chain: Chain, hash: Uint8Array): Uint8Array {
  return chain.hasSegwit ? witnessScript(0, hash) : keyHashScript(hash);
}

function readSegwit(form: AddressForm, address: string): Uint8Array | undefined {
  const lower =
    address.toLowerCase() === address || address.toUpperCase() === address ? address.toLowerCase() : '';
  if (!lower.startsWith(`${form.prefix}1`)) return undefined;
  const codec = lower.charAt(form.prefix.length + 1) === 'q' ? bech32 : bech32m;
  const decoded = codec.decodeUnsafe(lower);
  if (!decoded || decoded.prefix !== form.prefix) return undefined;
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (!program) return undefined;
  if (version === 0 && (program.length === 20 || program.length === 32)) return witnessScript(0, program);
  return version === 1 && program.length === 32 ? witnessScript(1, program) : undefined;
}

function readBase58(form: AddressForm, address: string): Uint8Array | undefined {
  if (form.base58 === undefined) return undefined;
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || bytes.length !== 25 || !isBase58Checked(bytes)) return undefined;
  const hash = bytes.subarray(1, 21);
  if (bytes[0] === form.base58.keyHash) return keyHashScript(hash);
  return bytes[0] === form.base58.scriptHash ? scriptHashScript(hash) : undefined;
}

function readCash(form: AddressForm, address: string): Uint8Array | undefined {
  const payload = readCashaddr(form.prefix, address);
  if (payload === undefined) return undefined;
  return payload.isScript ? scriptHashScript(payload.hash) : keyHashScript(payload.hash);
}

/** Undefined if the text is no address of the chain. */
export function scriptOf(chain: Chain, address: string): Uint8Array | undefined {
  for (const form of chain.acceptedForms) {
    const script = chain.hasSegwit
      ? (readSegwit(form, address) ?? readBase58(form, address))
      : readCash(form, address);
    if (script !== undefined) return script;
  }
  return undefined;
}

/** The address in the form of the chain; undefined for scripts that no address stands for. */
export function addressOf(chain: Chain, script: Uint8Array): string | undefined {
  const { length } = script;
  const { form } = chain;
  if (
    length === 25 &&
    script[0] === OP.dup &&
    script[1] === OP.hash160 &&
    script[2] === 20 &&
    script[23] === OP.equalVerify &&
    script[24] === OP.check
  )
    return hashAddress(form, false, script.subarray(3, 23));
  if (length === 23 && script[0] === OP.hash160 && script[1] === 20 && script[22] === OP.equal)
    return hashAddress(form, true, script.subarray(2, 22));
  if (!chain.hasSegwit) {
    const isLong = length === 35 && script[0] === OP.hash256 && script[1] === 32 && script[34] === OP.equal;
    return isLong ? hashAddress(form, true, script.subarray(2, 34)) : undefined;
  }
  if (script[0] === OP.zero && ((length === 22 && script[1] === 20) || (length === 34 && script[1] === 32)))
    return bech32.encode(form.prefix, [0, ...bech32.toWords(script.subarray(2))]);
  if (script[0] === OP.one && length === 34 && script[1] === 32)
    return bech32m.encode(form.prefix, [1, ...bech32m.toWords(script.subarray(2))]);
  return undefined;
}

function hashAddress(form: AddressForm, isScript: boolean, hash: Uint8Array): string {
  if (form.base58 === undefined) return cashaddrOf(form.prefix, isScript, hash);
  return base58WithChecksum(isScript ? form.base58.scriptHash : form.base58.keyHash, hash);
}
