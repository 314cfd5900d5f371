import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { base58, bech32 } from '@scure/base';
import { bech32Alphabet, type CryptoNetwork, cashSum, eip55, hasNumberedOutputs } from '../kernel/address.ts';

/** Addresses and transaction hashes of the sandbox: valid in form, the same for the same text, and nobody's. */

function bytesFrom(text: string, length: 20 | 32 | 64): Uint8Array {
  return createHash('sha512').update(`ferry sandbox/${text}`).digest().subarray(0, length);
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function segwitAddress(prefix: string, text: string): string {
  return bech32.encode(prefix, [0, ...bech32.toWords(bytesFrom(text, 20))]);
}

/** P2PKH: version byte 0 and the hash, then eight words of checksum. */
function cashAddress(text: string): string {
  const words = bech32.toWords(Uint8Array.of(0, ...bytesFrom(text, 20)));
  const sum = cashSum('bitcoincash', [...words, 0, 0, 0, 0, 0, 0, 0, 0]) ^ 1n;
  const checksum = Array.from({ length: 8 }, (_, index) => Number((sum >> BigInt(5 * (7 - index))) & 31n));
  return `bitcoincash:${[...words, ...checksum].map((word) => bech32Alphabet[word]).join('')}`;
}

/** A real key of the curve: wallets refuse others. */
function solanaAddress(text: string): string {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), bytesFrom(text, 32)]);
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }));
  return base58.encode(key.export({ format: 'der', type: 'spki' }).subarray(-32));
}

const ADDRESSES: Readonly<Partial<Record<CryptoNetwork, (text: string) => string>>> = {
  BITCOIN: (text) => segwitAddress('bc', text),
  LITECOIN: (text) => segwitAddress('ltc', text),
  BITCOIN_CASH: cashAddress,
  SOLANA: solanaAddress,
};

export function deriveAddress(network: CryptoNetwork, text: string): string {
  // The other networks are EVM ones, where an address is the same on all.
  return (ADDRESSES[network] ?? ((one) => `0x${eip55(hex(bytesFrom(one, 20)))}`))(text);
}

/** As explorers of that network write them. */
export function deriveTransaction(
  network: CryptoNetwork,
  text: string,
  address: string,
): { txHash: string; txIndex: string } {
  const seed = `${network}/${text}`;
  if (network === 'SOLANA') return { txHash: base58.encode(bytesFrom(seed, 64)), txIndex: address };
  const hash = hex(bytesFrom(seed, 32));
  if (hasNumberedOutputs(network)) return { txHash: hash, txIndex: String(bytesFrom(seed, 64)[40]! % 2) };
  return { txHash: `0x${hash}`, txIndex: address };
}
