import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { NETWORKS, type RailName } from '../../src/networks/register.ts';
import { deriveAddress as derive } from '../../src/sandbox/derive.ts';

/** From the register of the product. */
export const RAIL_NAMES: readonly RailName[] = [...NETWORKS.cryptoNetworks, ...NETWORKS.fiatKinds];

export function deriveAddress(network: CryptoNetwork, text: string): string {
  return derive(NETWORKS, network, text);
}
