import type { CryptoNetwork } from '../networks/crypto.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { RailName } from '../networks/register.ts';

export type { RailName } from '../networks/register.ts';

/**
 * A rail sends payments out of the service, and reports deposits. The worker submits a payment, and later asks for its
 * state. A rail has no access to the database, and no rail is called inside a transaction.
 */

/** What is to be paid. The same key always comes with the same payment. */
export type Payment = {
  /** The transfer's id. Requests with one key are one payment, however often they arrive. */
  readonly key: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  /** The amount as a decimal string. */
  readonly amount: string;
  readonly memo: string | null;
  readonly destination: Destination;
  /** Who pays, for the checks that the law requires of the rail. Absent on payments of older releases. */
  readonly originator?: Originator;
  /** Who is paid, as the customer says: `person_details` or `institution_details`. Of a fiat account, it is in the destination. */
  readonly beneficiary?: object;
};

export type Requested = Pick<Payment, 'asset' | 'amount'>;

export type Originator = {
  readonly customerId: string;
  readonly profileId: string;
  readonly identityId: string | null;
  readonly accountId: string | null;
  /** The name of the customer. */
  readonly customerName?: string;
  /** The identity that pays, or that owns the account: `person_details` or `institution_details`. */
  readonly identity?: object;
};

/** As it is written to others: the same fields always, without those that are not known. */
export const detailsOf = ({
  customerId,
  customerName,
  profileId,
  identityId,
  accountId,
  identity,
}: Originator) => ({
  customer_id: customerId,
  ...(customerName !== undefined && { customer_name: customerName }),
  profile_id: profileId,
  ...(identityId !== null && { identity_id: identityId }),
  ...(accountId !== null && { account_id: accountId }),
  ...(identity !== undefined && { identity }),
});

/** Why a payment failed. */
export type FailureReason = {
  /** Shown to the customer. It must not say what only the operator may know, such as that a party is on a list. */
  readonly reason: string;
  /** For operators only; absent if the reason is all there is to know. */
  readonly privateReason?: string;
};

export type Destination =
  | { readonly address: string }
  | { readonly instructions: object; readonly owner: object };

/**
 * What a failure means for the money:
 * - `final`: nothing is ever paid under this key. The rail remembers that, and `ask` returns it. As the answer to a second
 *   request it ends nothing before `ask` has confirmed it.
 * - `retry`: the rail certainly did not accept the payment (down, busy, not connected). The request may be repeated.
 * - `unknown`: the rail may or may not have accepted the payment. Only `ask` can find out.
 */
export type FailureMeaning = 'final' | 'retry' | 'unknown';

export type SubmitResult =
  /** The rail will pay. `ask` returns the state; before `nextAskMs` there is nothing new. */
  | { readonly kind: 'accepted'; readonly nextAskMs: number }
  | ({ readonly kind: 'failed'; readonly meaning: FailureMeaning } & FailureReason);

/** Where a payment is on its chain; absent for fiat. */
export type OnChain = { readonly txHash?: string; readonly txIndex?: string };

export type PaymentState =
  | ({
      readonly kind: 'pending';
      readonly confirmations?: { readonly have: number; readonly need: number };
      /** The earliest time at which the state may have changed. */
      readonly nextAskMs: number;
    } & OnChain)
  | ({ readonly kind: 'completed'; readonly detail: string } & OnChain)
  | ({ readonly kind: 'failed' } & FailureReason)
  /** The rail does not know the key. Only after `horizonMs` does that mean that a request was lost. */
  | { readonly kind: 'not-found' };

export type Rail = {
  readonly name: RailName;
  /** If `ask` does not know a request this long after it was sent, the request is lost. */
  readonly horizonMs: number;
  /** Idempotent by the payment's key. The caller aborts through the signal; an aborted call means `unknown`. */
  submit(payment: Payment, signal: AbortSignal): Promise<SubmitResult>;
  /**
   * Never changes anything. A call that fails or is aborted says nothing about the payment. `requested` is what was to be paid
   * under the key: a rail that could have another payment there compares, and fails if it has.
   */
  ask(key: string, signal: AbortSignal, requested?: Requested): Promise<PaymentState>;
  /** What sending an amount of that asset costs the operator now, in its units; undefined when the rail cannot say. */
  quoteFee?(asset: string, signal: AbortSignal): Promise<bigint | undefined>;
  /** What this payment would pay for a token account that its recipient does not have yet, in units of the native coin. */
  rentOf?(payment: Payment, signal: AbortSignal): Promise<bigint>;
  /** An address for deposits; the same id always gives the same address. */
  depositAddress?(id: string, signal: AbortSignal): Promise<string>;
  /** Whether it is an address of the chain; absent: of the main chain of the network. Test chains write addresses differently. */
  isAddress?(address: string): boolean;
  /** The operator's own account on that network, for others to pay to. */
  depositInstructions?(signal: AbortSignal): Promise<object>;
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

/**
 * A report of a rail without being asked, delivered at least once: about a payment (not one request for it), a deposit, or money
 * that came back after a payment was completed.
 */
export type Notice = { readonly id: string } & (
  | {
      readonly about: 'payment';
      readonly rail: RailName;
      readonly key: string;
      readonly state: Extract<PaymentState, { kind: 'completed' | 'failed' }>;
    }
  | { readonly about: 'deposit'; readonly deposit: ArrivedDeposit }
  | { readonly about: 'return'; readonly key: string; readonly arrived: ArrivedDeposit }
);

/** A bank statement, the inbox of a webhook, or a feed. Notices are collected again until they are acknowledged. */
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
