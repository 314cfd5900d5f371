import type { CryptoNetwork } from '../networks/crypto.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Networks } from '../networks/register.ts';
import { deriveAddress, deriveTransaction } from './derive.ts';

/** What a simulated rail knows about its network. Times are real ones; the sandbox divides them by its speed. */
export type RailFacts = ChainFacts | BankFacts;

export type ChainFacts = {
  readonly name: CryptoNetwork;
  readonly confirmations: number;
  readonly blockMs: number;
  readonly nativeAsset: string;
  readonly tokenAccountRentUnits: bigint | undefined;
  addressFor(text: string): string;
  transactionFor(text: string, address: string): { txHash: string; txIndex: string };
};

export type BankFacts = {
  readonly name: FiatKind;
  readonly delayMs: number;
  /** The operator's own account. */
  readonly instructions: object;
};

export function railFacts(networks: Networks): readonly RailFacts[] {
  const chains = networks.cryptoNetworks.map((name): ChainFacts => {
    const { confirmations, blockMs, native, tokenAccountRentUnits } = networks.crypto(name);
    return {
      name,
      confirmations,
      blockMs,
      nativeAsset: native.asset,
      tokenAccountRentUnits,
      addressFor: (text) => deriveAddress(networks, name, text),
      transactionFor: (text, address) => deriveTransaction(networks, name, text, address),
    };
  });
  const banks = networks.fiatKinds.map((name): BankFacts => {
    const { delayMs, sandboxInstructions } = networks.fiat(name);
    return { name, delayMs, instructions: { [name]: sandboxInstructions } };
  });
  return [...chains, ...banks];
}

export function isChain(facts: RailFacts): facts is ChainFacts {
  return 'blockMs' in facts;
}

/** From accepting a payment until it is final. */
export function durationMs(facts: RailFacts): number {
  return isChain(facts) ? facts.confirmations * facts.blockMs : facts.delayMs;
}
