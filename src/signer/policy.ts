import type { CryptoNetwork } from '../networks/crypto.ts';

/** The signer's own numbers, from its own file: the service cannot change them. */
export type Policy = {
  readonly networks: ReadonlyMap<CryptoNetwork, NetworkPolicy>;
  /** By asset, over all networks. */
  readonly limits: ReadonlyMap<string, AssetLimits>;
};

export type NetworkPolicy = {
  readonly network: CryptoNetwork;
  /** Of EVM networks: a signature for another chain would be valid there. */
  readonly chainId: bigint | undefined;
  /** A test chain: its extended keys have another form. */
  readonly isTest: boolean;
  /** How many sending addresses it has. */
  readonly lanes: number;
  /** How many addresses for deposits it has, where keys are not hierarchical (Solana). */
  readonly depositAddresses: number;
  /** By asset: `native`, or the contract or mint. */
  readonly assets: ReadonlyMap<string, string>;
  /** The most that one transaction may cost, in units of the native coin; … */
  readonly feeUnitsMax: bigint;
  /** … and all of them within 24 hours. */
  readonly feeUnitsPerDay: bigint;
  /** The only destination of what leaves the hot wallet for the cold one. */
  readonly coldAddress: string | undefined;
  /** Withdrawals go only to these addresses, in their canonical form; undefined: to any. */
  readonly destinations: ReadonlySet<string> | undefined;
};

export type AssetLimits = {
  readonly unitsPerHour: bigint;
  readonly unitsPerDay: bigint;
  readonly paymentsPerMinute: number;
};
