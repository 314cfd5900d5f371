import type { CryptoNetwork } from '../networks/crypto.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { RailName } from '../networks/register.ts';

export type { RailName } from '../networks/register.ts';

/**
 * A rail carries payments out of the service, and reports deposits. The worker submits a payment and later asks for its
 * state. A rail never sees the database, and no call of a rail is made inside a transaction.
 */

/** What is to be paid. The same key always comes with the same payment. */
export type Payment = {
  /** The transfer's id. Requests with one key are one payment, however often they arrive. */
  readonly key: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  /** The amount in decimals, as people write it. */
  readonly amount: string;
  readonly memo: string | null;
  readonly destination: Destination;
};

export type Destination =
  | { readonly address: string }
  | { readonly instructions: object; readonly owner: object };

/**
 * What a failure means for the money:
 * - `final`: nothing is paid under this key, now or ever. The rail remembers that, and `ask` says so. As the answer to a
 *   second request it ends nothing before `ask` has confirmed it.
 * - `retry`: nothing was taken on, for certain (down, busy, not connected). The same request may be made again.
 * - `unknown`: it may or may not have been taken on. Only `ask` tells.
 */
export type FailureMeaning = 'final' | 'retry' | 'unknown';

export type SubmitResult =
  /** Taken on. `ask` tells how it goes; the first time is worth it after `nextAskMs`. */
  | { readonly kind: 'accepted'; readonly nextAskMs: number }
  | { readonly kind: 'failed'; readonly meaning: FailureMeaning; readonly reason: string };

/** Where a payment is on its chain; absent for fiat. */
export type OnChain = { readonly txHash?: string; readonly txIndex?: string };

export type PaymentState =
  | ({
      readonly kind: 'pending';
      readonly confirmations?: { readonly have: number; readonly need: number };
      /** When there may be something new to hear. */
      readonly nextAskMs: number;
    } & OnChain)
  | ({ readonly kind: 'completed'; readonly detail: string } & OnChain)
  | { readonly kind: 'failed'; readonly reason: string }
  /** Never heard of. Only after `horizonMs` does that say that a request which was sent will not arrive any more. */
  | { readonly kind: 'not-found' };

export type Rail = {
  readonly name: RailName;
  /** A request is known to `ask` this long after it was sent, or it is lost. */
  readonly horizonMs: number;
  /** Idempotent by the payment's key. Whoever calls gives up through the signal; giving up means `unknown`. */
  submit(payment: Payment, signal: AbortSignal): Promise<SubmitResult>;
  /** Never changes anything. A call that fails or is given up says nothing about the payment. */
  ask(key: string, signal: AbortSignal): Promise<PaymentState>;
  /** What sending an amount of that asset costs the operator now, in its units; undefined when the rail cannot say. */
  quoteFee?(asset: string, signal: AbortSignal): Promise<bigint | undefined>;
  /** Lamports that this payment would pay for a token account that its recipient does not have yet. */
  rentOf?(payment: Payment, signal: AbortSignal): Promise<bigint>;
  /** A new address for deposits; the same one for the same id. */
  depositAddress?(id: string): Promise<string>;
  /** The operator's own account on that network, for others to pay to. */
  depositInstructions?(): Promise<object>;
};

/**
 * A deposit as a rail sees it arrive: at an address, or at the operator's bank with a memo. What identifies it, (rail,
 * txHash, output) or (rail, account, reference), is credited once, so it must stay the same for as long as the rail may
 * report the deposit again: over restarts, new releases of the adapter, and reorganisations of the chain.
 */
export type ArrivedDeposit =
  | {
      readonly rail: CryptoNetwork;
      readonly txHash: string;
      /**
       * The number of the output within its transaction. On networks of accounts: the place of the log or instruction
       * within the transaction (not within the block, which a reorganisation changes), or null for all of the asset that
       * the transaction paid to the address together. One payment is never reported in both ways.
       */
      readonly output: number | null;
      readonly address: string;
      readonly asset: string;
      readonly amountUnits: bigint;
    }
  | {
      readonly rail: FiatKind;
      /** The operator's own account that was paid: always under the same name. */
      readonly account: string;
      /**
       * The bank's own name for the payment, unique within that account for all time. Where a bank uses its references
       * again, each day for example, the rail puts the booking date in front.
       */
      readonly reference: string;
      readonly memoId: string;
      readonly asset: string;
      readonly amountUnits: bigint;
    };

/** What a rail says without being asked, at least once: about the payment under that key, not about one request for it. */
export type Notice = { readonly id: string } & (
  | {
      readonly about: 'payment';
      readonly rail: RailName;
      readonly key: string;
      readonly state: Extract<PaymentState, { kind: 'completed' | 'failed' }>;
    }
  | { readonly about: 'deposit'; readonly deposit: ArrivedDeposit }
);

/** A statement, a webhook's inbox, a feed: given out again until it is acknowledged. */
export type NoticeSource = {
  collect(noticesMax: number): Promise<readonly Notice[]>;
  acknowledge(ids: readonly string[]): Promise<void>;
};

export type Rails = {
  readonly list: readonly Rail[];
  find(name: string): Rail | undefined;
  readonly notices: readonly NoticeSource[];
};

export function createRails(list: readonly Rail[], notices: readonly NoticeSource[] = []): Rails {
  const byName = new Map<string, Rail>(list.map((rail) => [rail.name, rail]));
  if (byName.size < list.length) throw new Error('a rail is listed twice');
  return { list, find: (name) => byName.get(name), notices };
}
