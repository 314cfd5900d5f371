import type { ChainName, UtxoNetwork } from './chain.ts';
import type { NodeSettings } from './rpc.ts';
import type { FeeBounds } from './versions.ts';

/** A rail of the kind `utxo`, as the configuration file describes it. */
export type UtxoSettings = {
  readonly network: UtxoNetwork;
  readonly chain: ChainName;
  readonly nodes: readonly NodeSettings[];
  /** So many nodes must have a block, and none another one, before it counts. */
  readonly agreement: number;
  /** The extended public key of the wallet's account. */
  readonly account: string;
  /** Blocks until a payment or a deposit is final. */
  readonly confirmations: number;
  readonly fees: FeeSettings;
  /** Whether nodes and miners replace unconfirmed transactions; absent: as usual on the network. */
  readonly replacement?: boolean;
  /** Units below which operators are to refill the wallet, and above which coins go to the cold address. */
  readonly lowMark?: bigint | undefined;
  readonly highMark?: bigint | undefined;
  readonly coldAddress?: string | undefined;
};

/** Rates are units per 1,000 vbytes. */
export type FeeSettings = FeeBounds & {
  /** Where a node has no estimate. */
  readonly fallbackRate: bigint;
  /** Up to this rate, small coins are joined. */
  readonly consolidationRate: bigint;
  /** Blocks within which a payment shall be mined. */
  readonly targetBlocks: number;
};
