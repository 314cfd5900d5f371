import type { TSchema } from 'typebox';
import { DECIMALS_MAX, parseAmount } from '../kernel/amount.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import type { OnChain, Payment, PaymentState, RailName, Requested, SubmitResult } from '../rails/rail.ts';
import type { Reply } from './client.ts';
import { type AdapterPayment, PaymentShape, type Refusal, RefusalShape } from './schema.ts';

/** What an answer means for the money. Everything that an adapter did not clearly say is an unknown outcome. */

export type Validation = {
  /** The first error of the value, as a clause; undefined if it has the shape. */
  fault(schema: TSchema, value: unknown): string | undefined;
};

export type RailFacts = { readonly name: RailName; readonly isChain: boolean };

type Answered = Extract<Reply, { kind: 'answered' }>;

/** A text of the adapter as customers are shown it: one line of bounded length. */
export function shownText(text: string): string {
  const line = text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim();
  const { textShownMax } = HTTP_RAIL_LIMITS;
  return line.length <= textShownMax ? line : `${line.slice(0, textShownMax - 1)}…`;
}

const onChainOf = ({ tx_hash: txHash, tx_index: txIndex }: Partial<AdapterPayment>): OnChain => ({
  ...(txHash !== undefined && { txHash }),
  ...(txIndex !== undefined && { txIndex }),
});

export function completedState(
  { name }: RailFacts,
  payment: Pick<Partial<AdapterPayment>, 'detail' | 'tx_hash' | 'tx_index'>,
): Extract<PaymentState, { kind: 'completed' }> {
  const detail = shownText(payment.detail ?? '') || `Paid by the ${name} rail.`;
  return { kind: 'completed', detail, ...onChainOf(payment) };
}

/**
 * `reason` is for operators: an adapter passes on what its provider says, such as that an address is on a list. The customer is
 * shown `public_reason`, or that the payment was not made.
 */
export function failedState({
  reason = '',
  public_reason: publicReason = '',
}: {
  readonly reason?: string;
  readonly public_reason?: string;
}): Extract<PaymentState, { kind: 'failed' }> {
  const privateReason = shownText(reason);
  return {
    kind: 'failed',
    reason: shownText(publicReason) || 'The rail did not make the payment.',
    ...(privateReason !== '' && { privateReason }),
  };
}

/** Why the body is not a payment that this request can be about, as a clause; undefined if it is. */
export function paymentFault(
  body: unknown,
  key: string,
  { isChain }: RailFacts,
  { fault }: Validation,
): string | undefined {
  const misshapen = fault(PaymentShape, body);
  if (misshapen !== undefined) return misshapen;
  const payment = body as AdapterPayment;
  if (payment.key !== key) return `/key must be ${key}, the key of the request, not ${payment.key}`;
  if (payment.status === 'failed' && payment.reason === undefined)
    return '/reason is required if status is failed';
  if (isChain && payment.status === 'completed' && payment.tx_hash === undefined)
    return '/tx_hash is required on a crypto network if status is completed';
  return undefined;
}

export function refusalOf({ body }: Answered, { fault }: Validation): Refusal | undefined {
  return fault(RefusalShape, body) === undefined ? (body as Refusal) : undefined;
}

function pendingState(payment: AdapterPayment): PaymentState {
  const { confirmations, next_ask_ms: nextAskMs = HTTP_RAIL_LIMITS.nextAskMs } = payment;
  return { kind: 'pending', nextAskMs, ...(confirmations && { confirmations }), ...onChainOf(payment) };
}

function stateIn(payment: AdapterPayment, facts: RailFacts): PaymentState {
  if (payment.status === 'completed') return completedState(facts, payment);
  if (payment.status === 'failed') return failedState(payment);
  return pendingState(payment);
}

const unknown = (reason: string): SubmitResult => ({ kind: 'failed', meaning: 'unknown', reason });

/** Amounts are compared by value: "1.50" is "1.5". */
export function isSameAmount(one: string, other: string): boolean {
  const [a, b] = [parseAmount(one, DECIMALS_MAX), parseAmount(other, DECIMALS_MAX)];
  return a.ok && b.ok && a.units === b.units;
}

/** What differs from the request, as a clause; undefined if it is the same. */
export function otherAmount({ asset, amount }: AdapterPayment, requested: Requested): string | undefined {
  if (asset === requested.asset && isSameAmount(amount, requested.amount)) return undefined;
  return `the adapter reports ${amount} ${asset}, ${requested.amount} ${requested.asset} were requested`;
}

function acceptedResult(
  body: unknown,
  payment: Payment,
  facts: RailFacts,
  validation: Validation,
): SubmitResult {
  const fault = paymentFault(body, payment.key, facts, validation);
  if (fault !== undefined) return unknown(`the answer of the adapter is not a payment: ${fault}`);
  const answer = body as AdapterPayment;
  const other = otherAmount(answer, payment);
  if (other !== undefined) return unknown(other);
  const state = stateIn(answer, facts);
  if (state.kind === 'failed') return { ...state, meaning: 'final' };
  return { kind: 'accepted', nextAskMs: state.kind === 'pending' ? state.nextAskMs : 0 };
}

function firstResult(
  reply: Answered,
  payment: Payment,
  facts: RailFacts,
  validation: Validation,
): SubmitResult {
  const { status, body } = reply;
  if (status >= 200 && status < 300) return acceptedResult(body, payment, facts, validation);
  const refusal = status >= 400 ? refusalOf(reply, validation) : undefined;
  const detail = refusal?.detail ?? `status ${status}`;
  if (refusal?.outcome === 'rejected' && status < 500)
    return { ...failedState({ ...refusal, reason: detail }), meaning: 'final' };
  if (refusal?.outcome === 'not_accepted') return { kind: 'failed', meaning: 'retry', reason: detail };
  return unknown(
    `the adapter answers ${status}${refusal === undefined ? ' without an outcome' : `: ${detail}`}`,
  );
}

/** What the answer to a request to pay means. */
export function submitResultOf(
  reply: Reply,
  payment: Payment,
  facts: RailFacts,
  validation: Validation,
): SubmitResult {
  if (reply.kind === 'not-sent') return { kind: 'failed', meaning: 'retry', reason: reply.reason };
  if (reply.kind === 'no-answer') return unknown(reply.reason);
  const result = firstResult(reply, payment, facts, validation);
  // The first of two requests may have been accepted, whatever the answer to the second one says.
  if (reply.isSecond && result.kind === 'failed') return { ...result, meaning: 'unknown' };
  return result;
}

/** Whether the adapter has another payment under the key: an operator has to investigate. */
export function isConflict(reply: Reply, validation: Validation): boolean {
  if (reply.kind !== 'answered') return false;
  return reply.status === 409 || refusalOf(reply, validation)?.outcome === 'conflict';
}

/** What the answer to a question means. Throws if it says nothing about the payment. */
export function stateOf(reply: Reply, key: string, facts: RailFacts, validation: Validation): PaymentState {
  if (reply.kind !== 'answered') throw new Error(reply.reason);
  const { status, body } = reply;
  if (status === 404 && refusalOf(reply, validation)?.outcome === 'not_found') return { kind: 'not-found' };
  if (status !== 200) throw new Error(`the adapter answers ${status}`);
  const fault = paymentFault(body, key, facts, validation);
  if (fault !== undefined) throw new Error(`the answer of the adapter is not a payment: ${fault}`);
  return stateIn(body as AdapterPayment, facts);
}
