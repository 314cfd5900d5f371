import { FIAT_KINDS, type FiatKind } from '../fiat-accounts/fiat-account.ts';
import { CRYPTO_NETWORKS, type CryptoNetwork } from '../kernel/address.ts';
import type { RailName } from '../rails/rail.ts';

/** How long things take outside, in real time. The sandbox divides all of it by its speed. */
export type RailFacts =
  | { readonly name: CryptoNetwork; readonly confirmations: number; readonly blockMs: number }
  | { readonly name: FiatKind; readonly delayMs: number };

const CHAINS: Readonly<Record<CryptoNetwork, { confirmations: number; blockMs: number }>> = {
  BITCOIN: { confirmations: 3, blockMs: 600_000 },
  ETHEREUM: { confirmations: 12, blockMs: 12_000 },
  BITCOIN_CASH: { confirmations: 15, blockMs: 600_000 },
  LITECOIN: { confirmations: 20, blockMs: 150_000 },
  SOLANA: { confirmations: 32, blockMs: 400 },
  POLYGON_POS: { confirmations: 256, blockMs: 2_000 },
  BASE: { confirmations: 84, blockMs: 2_000 },
  ARBITRUM_ONE: { confirmations: 40, blockMs: 250 },
  INK: { confirmations: 84, blockMs: 1_000 },
};

const BANKS: Readonly<Record<FiatKind, number>> = {
  wire: 30 * 60_000,
  cubix: 60_000,
  bank_network_2: 10 * 60_000,
  bank_network_3: 10 * 60_000,
  cbit: 30_000,
};

export const RAIL_FACTS: readonly RailFacts[] = [
  ...CRYPTO_NETWORKS.map((name) => ({ name, ...CHAINS[name] })),
  ...FIAT_KINDS.map((name) => ({ name, delayMs: BANKS[name] })),
];

export const RAIL_NAMES: readonly RailName[] = RAIL_FACTS.map(({ name }) => name);

export function isChain(facts: RailFacts): facts is Extract<RailFacts, { blockMs: number }> {
  return 'blockMs' in facts;
}

/** From the moment that a payment is taken on until it is final. */
export function durationMs(facts: RailFacts): number {
  return isChain(facts) ? facts.confirmations * facts.blockMs : facts.delayMs;
}
