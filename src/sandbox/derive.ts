import { createHash } from 'node:crypto';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { Networks } from '../networks/register.ts';

/**
 * Addresses and transaction hashes of the sandbox. They are well-formed, nobody has their keys, and the same text always
 * gives the same one.
 */

function seedOf(text: string): Uint8Array {
  return createHash('sha512').update(`ferry sandbox/${text}`).digest();
}

/** Networks of one family have the same addresses: one text gives one address on all EVM networks. */
export function deriveAddress(networks: Networks, network: CryptoNetwork, text: string): string {
  return networks.crypto(network).addresses.addressFrom(seedOf(text));
}

/** As explorers of that network write them. */
export function deriveTransaction(
  networks: Networks,
  network: CryptoNetwork,
  text: string,
  address: string,
): { txHash: string; txIndex: string } {
  const { txHashFrom, numbersOutputs } = networks.crypto(network).addresses;
  const seed = seedOf(`${network}/${text}`);
  return { txHash: txHashFrom(seed), txIndex: numbersOutputs ? String(seed[40]! % 2) : address };
}
