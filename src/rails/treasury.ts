import type { Instant } from '../kernel/instant.ts';

/** What a rail with wallets of its own tells the treasury. */
export type RailTreasury = {
  readonly rail: string;
  /** The coin that fees are paid in. */
  readonly feeAsset: string;
  readonly coldAddress: string | undefined;
  /** One for each asset, as they were last looked at. */
  wallets(): Promise<readonly Wallet[]>;
  /** A transaction without signatures from the cold wallet to the hot one. Throws RefillRefused. */
  refill(asset: string, units: bigint, signal: AbortSignal): Promise<RefillFile>;
  /**
   * Ends a payment, or another transaction, that the signer does not sign. Throws CancellationRefused if there is nothing to
   * cancel, or if something was signed for it.
   */
  cancel(order: CancelOrder, signal: AbortSignal): Promise<Cancelled>;
  /** Lanes and scanners that do not go on. */
  stops(): Promise<readonly { readonly task: string; readonly code: string; readonly reason: string }[]>;
};

export type Wallet = WalletLook & {
  readonly lowMarkUnits: bigint | undefined;
  readonly highMarkUnits: bigint | undefined;
};

export type WalletLook = {
  readonly asset: string;
  readonly hotUnits: bigint;
  /** At addresses for deposits. */
  readonly unsweptUnits: bigint;
  /** Null without a cold address. */
  readonly coldUnits: bigint | null;
  readonly height: number;
  readonly hash: string;
  readonly observedAtNs: Instant;
  readonly ageMs: number;
  /** Of the coin: payments whose fee the poorest lane can pay. */
  readonly gasPayments: number | null;
  /** What the chain has more than the ledger explains. */
  readonly differenceUnits: bigint;
  readonly differsSinceNs: Instant | null;
  readonly differsMs: number | null;
  /** As the ledger has them: negative is what is there. */
  readonly clearingUnits: bigint;
  readonly coldLedgerUnits: bigint;
  readonly networkFeesUnits: bigint;
  /** Deposits that are not final yet. */
  readonly arrivingUnits: bigint;
  /** Payments and moves out of the hot wallet that have not ended. */
  readonly leavingUnits: bigint;
  /** The most that their fees can be. */
  readonly reservedUnits: bigint;
};

/** A transaction without signatures. */
export type RefillFile = {
  readonly format: 'PSBT' | 'EVM_TRANSACTION' | 'SOLANA_MESSAGE';
  /** PSBT and message in base64; of EVM networks the transaction in hex. */
  readonly content: string;
  /** What the transaction says, for people who compare. */
  readonly summary: Readonly<Record<string, string>>;
};

/** Either a payment, by the id of its transfer, or an assignment. */
export type CancelOrder = { readonly transferId: string } | { readonly assignmentId: string };

export type Cancelled = {
  /** Null if the payment had none. */
  readonly assignmentId: string | null;
  /** The transaction that uses up the nonce in its place; null if none is needed. */
  readonly cancellationId: string | null;
};

export class CancellationRefused extends Error {
  readonly code: 'unknown' | 'ended' | 'signed';
  constructor(code: CancellationRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** There can be no such transaction. The message is a sentence. */
export class RefillRefused extends Error {}
