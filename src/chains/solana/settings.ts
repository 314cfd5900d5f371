import type { CryptoNetwork } from '../../networks/crypto.ts';

export type SolanaNode = {
  readonly url: string;
  /** Sent with every request, such as the key of a provider. */
  readonly headers: Readonly<Record<string, string>>;
};

export type SolanaSettings = {
  readonly network: CryptoNetwork;
  /** In the order of preference. */
  readonly nodes: readonly SolanaNode[];
  /** A node of another cluster is never used. */
  readonly genesisHash: string;
  /** Nodes that must agree before a transaction counts as final, or as superseded. */
  readonly nodesAgreeing: number;
  /** Confirmations of a final transaction, to show the progress of one that is not. Finality is decided by the network. */
  readonly confirmations: number;
  /** Time between two blocks. */
  readonly blockMs: number;
  /** How long the scanner pauses when it has read all blocks. */
  readonly scanPauseMs: number;
  /** The sending addresses; empty: all that the signer has. */
  readonly lanes: readonly string[];
  /** The code of the coin. */
  readonly native: string;
  readonly tokens: readonly SolanaToken[];
  /** Durable nonce accounts of each lane: transactions that can be in flight at a time. */
  readonly nonceAccounts: number;
  /** Payments in one transaction at most. */
  readonly batchPaymentsMax: number;
  readonly priority: PriorityPolicy;
  /** Balances of a lane, in lamports: below the first operators are warned, above the second it goes to the cold wallet. */
  readonly lowMark: bigint | undefined;
  readonly highMark: bigint | undefined;
  /** What it pays to a lane is a refill. */
  readonly coldAddress?: string | undefined;
};

export type SolanaToken = { readonly asset: string; readonly mint: string; readonly decimals: number };

/** Bounds on the price of a compute unit, in micro-lamports. */
export type PriorityPolicy = {
  readonly priceMin: bigint;
  readonly priceMax: bigint;
  /** Which of the recent prices is paid, in percent: 75 is more than three quarters of the others paid. */
  readonly percentile: number;
};
