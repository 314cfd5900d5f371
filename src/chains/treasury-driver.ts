import type { RefillFile } from '../rails/treasury.ts';
import type { Coin, LaneState, Plan } from './driver.ts';

/** What a family does for the treasury: moves between our own wallets. All of them are assignments like payments. */
export type TreasuryDriver = {
  /**
   * From deposit addresses to the hot wallet. Where an address pays its own fee (EVM), the lane is that address and there is one
   * row. A row that is not worth its fee is a reason to wait.
   */
  sweep?(lane: LaneState, rows: readonly Unswept[], to: string, signal: AbortSignal): Promise<Plan>;
  /** Whether deposit addresses pay the fees of their sweeps, each with nonces of its own. */
  readonly addressesPay?: boolean;
  /** Coins for the fee of a sweep, from the lane; undefined if the address has enough. */
  fund?(lane: LaneState, row: Unswept, signal: AbortSignal): Promise<Plan | undefined>;
  /** From the lane to the cold wallet: those units, or less if the lane has less. */
  toCold(lane: LaneState, order: ToCold, signal: AbortSignal): Promise<Plan>;
  /** From the cold wallet to the hot one, as a file for people who have the keys of the cold wallet. */
  refill(order: RefillOrder, signal: AbortSignal): Promise<RefillFile>;
};

/** What a deposit address holds of one asset, at a final block. */
export type Unswept = {
  readonly address: string;
  readonly path: string;
  readonly asset: string;
  readonly units: bigint;
};

export type ToCold = { readonly asset: string; readonly units: bigint; readonly address: string };

export type RefillOrder = {
  readonly asset: string;
  readonly units: bigint;
  readonly cold: string;
  /** An address of the hot wallet. */
  readonly to: string;
  /** UTXO: those of the cold wallet. */
  readonly coins: readonly Coin[];
};

/** A transaction that pays the hot wallet from the cold one. */
export type RefillSeen = {
  readonly txHash: string;
  /** Tells payments of one transaction apart. */
  readonly place: string;
  /** Of a driver that does not know which of our addresses are those of the hot wallet. */
  readonly address?: string;
  readonly asset: string;
  readonly units: bigint;
  /** What the cold wallet paid the network: known, or what is left of its coins. */
  readonly fee:
    | { readonly units: bigint }
    | { readonly coins: readonly string[]; readonly paidUnits: bigint };
};

/** Coins of the cold wallet are remembered under this instead of the path of a key. */
export const COLD_PATH = 'cold';
