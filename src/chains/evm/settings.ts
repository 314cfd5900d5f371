import type { CryptoNetwork } from '../../networks/crypto.ts';
import type { FeeBounds } from './fees.ts';
import type { Policy } from './nodes.ts';

/** A token of the configuration. */
export type Token = { readonly asset: string; readonly contract: string };

/** What the driver needs to know about its network. */
export type EvmSettings = {
  readonly network: CryptoNetwork;
  readonly chainId: number;
  readonly nodes: readonly string[];
  /** How many nodes must say that a payment or a deposit is final. */
  readonly nodesAgreeing: number;
  readonly policy: Policy;
  readonly blockMs: number;
  /** The code of the network's own coin. */
  readonly native: string;
  readonly tokens: readonly Token[];
  readonly fees: FeeBounds;
  /** A transaction that is in no block after this time gets a higher fee. */
  readonly bumpAfterMs: number;
  /** Transactions of one lane that may wait for a block. */
  readonly inFlightMax: number;
  /** The nonce of the first payment over a lane that was used before. */
  readonly firstNonce: bigint;
  /** Whether coins that contracts send are found, which needs `debug_traceBlockByHash`. */
  readonly traces: boolean;
  /** The contract that knows what the data of a transaction costs on the chain below (OP stack). */
  readonly dataFeeOracle: string | undefined;
  /** Below it operators are warned, in units of the native coin. */
  readonly lowMark: bigint | undefined;
  readonly highMark: bigint | undefined;
  /** What it pays to a lane is a refill. */
  readonly coldAddress?: string | undefined;
};
