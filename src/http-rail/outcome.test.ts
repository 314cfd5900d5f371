import { describe, expect, it } from 'vitest';
import type { Payment } from '../rails/rail.ts';
import type { Reply } from './client.ts';
import { isConflict, stateOf, submitResultOf } from './outcome.ts';
import { loadValidation } from './rail.ts';

const validation = await loadValidation();
const wire = { name: 'wire', isChain: false } as const;
const chain = { name: 'ETHEREUM', isChain: true } as const;
const payment: Payment = {
  key: 'k-1',
  asset: 'USD',
  amountUnits: 150n,
  amount: '1.5',
  memo: null,
  destination: { address: 'x' },
};
const PENDING = { key: 'k-1', asset: 'USD', amount: '1.50', status: 'pending', reference: 'r-1' };
const answered = (status: number, body?: unknown, isSecond = false): Reply => ({
  kind: 'answered',
  status,
  body,
  text: '',
  header: () => undefined,
  isSecond,
});

describe('the answer to a request to pay', () => {
  const ACCEPTED = { kind: 'accepted', nextAskMs: 10_000 };
  /** The words of the adapter are for operators, unless it says what the customer may know. */
  const final = (privateReason: string, reason = 'The rail did not make the payment.') => ({
    kind: 'failed',
    meaning: 'final',
    reason,
    privateReason,
  });
  const unknown = { kind: 'failed', meaning: 'unknown' };
  const retry = { kind: 'failed', meaning: 'retry' };

  it.each([
    ['there was no connection', { kind: 'not-sent', reason: 'ECONNREFUSED' }, retry],
    ['the answer did not come', { kind: 'no-answer', reason: 'timeout' }, unknown],
    ['200, pending', answered(200, PENDING), ACCEPTED],
    ['201, pending', answered(201, PENDING), ACCEPTED],
    ['when to ask', answered(202, { ...PENDING, next_ask_ms: 700 }), { kind: 'accepted', nextAskMs: 700 }],
    [
      '200, completed',
      answered(200, { ...PENDING, status: 'completed' }),
      { kind: 'accepted', nextAskMs: 0 },
    ],
    [
      '200, failed',
      answered(200, { ...PENDING, status: 'failed', reason: 'No such account.' }),
      final('No such account.'),
    ],
    [
      '200, failed with a reason for the customer',
      answered(200, { ...PENDING, status: 'failed', reason: 'On a list.', public_reason: 'Not possible.' }),
      final('On a list.', 'Not possible.'),
    ],
    ['200, failed without a reason', answered(200, { ...PENDING, status: 'failed' }), unknown],
    ['200 for another key', answered(200, { ...PENDING, key: 'k-2' }), unknown],
    ['200 with another amount', answered(200, { ...PENDING, amount: '1.51' }), unknown],
    ['200 with another asset', answered(200, { ...PENDING, asset: 'EUR' }), unknown],
    ['200 with an amount as a number', answered(200, { ...PENDING, amount: 1.5 }), unknown],
    ['200 without a reference', answered(200, { ...PENDING, reference: undefined }), unknown],
    ['200 with a status that is not known', answered(200, { ...PENDING, status: 'paid' }), unknown],
    ['200 without JSON', answered(200, undefined), unknown],
    ['200 with null', answered(200, null), unknown],
    ['204', answered(204, undefined), unknown],
    ['a redirect', answered(307, PENDING), unknown],
    [
      '422, rejected',
      answered(422, { outcome: 'rejected', detail: 'Closed account.' }),
      final('Closed account.'),
    ],
    ['400, rejected without a detail', answered(400, { outcome: 'rejected' }), final('status 400')],
    ['500, rejected: a server error is no decision', answered(500, { outcome: 'rejected' }), unknown],
    ['422 without an outcome', answered(422, { detail: 'Closed account.' }), unknown],
    ['429, not accepted', answered(429, { outcome: 'not_accepted' }), retry],
    ['503, not accepted', answered(503, { outcome: 'not_accepted', detail: 'Maintenance.' }), retry],
    ['503 without an outcome', answered(503, undefined), unknown],
    ['502 of a gateway', answered(502, undefined), unknown],
    ['401', answered(401, { outcome: 'unauthenticated' }), unknown],
    ['404', answered(404, { outcome: 'not_found' }), unknown],
    ['409', answered(409, { outcome: 'conflict' }), unknown],
    ['an outcome that is not known', answered(422, { outcome: 'REJECTED' }), unknown],
    ['rejected, to the second of two requests', answered(422, { outcome: 'rejected' }, true), unknown],
    [
      'not accepted, to the second of two requests',
      answered(503, { outcome: 'not_accepted' }, true),
      unknown,
    ],
    ['pending, to the second of two requests', answered(200, PENDING, true), ACCEPTED],
  ] as const)('%s', (_, reply, expected) => {
    expect(submitResultOf(reply, payment, wire, validation)).toMatchObject(expected);
  });

  it('reports a key that has another payment', () => {
    expect(isConflict(answered(409), validation)).toBe(true);
    expect(isConflict(answered(422, { outcome: 'conflict' }), validation)).toBe(true);
    expect(isConflict(answered(422, { outcome: 'rejected' }), validation)).toBe(false);
  });

  it('shows customers one line of bounded length', () => {
    const text = `Closed\n\u0000${'x'.repeat(1_900)}`;
    const result = submitResultOf(
      answered(200, { ...PENDING, status: 'failed', reason: text, public_reason: text }),
      payment,
      wire,
      validation,
    );
    expect(result).toMatchObject({ reason: `Closed ${'x'.repeat(192)}…` });
  });
});

describe('the answer to a question', () => {
  const HASH = { tx_hash: '0xab', tx_index: '1' };
  it.each([
    ['pending', wire, PENDING, { kind: 'pending', nextAskMs: 10_000 }],
    [
      'confirmations',
      chain,
      { ...PENDING, ...HASH, confirmations: { have: 1, need: 3 } },
      {
        kind: 'pending',
        nextAskMs: 10_000,
        confirmations: { have: 1, need: 3 },
        txHash: '0xab',
        txIndex: '1',
      },
    ],
    [
      'completed',
      wire,
      { ...PENDING, status: 'completed', detail: 'By SWIFT.' },
      { kind: 'completed', detail: 'By SWIFT.' },
    ],
    [
      'completed without a detail',
      wire,
      { ...PENDING, status: 'completed' },
      { kind: 'completed', detail: 'Paid by the wire rail.' },
    ],
    [
      'completed on a chain',
      chain,
      { ...PENDING, ...HASH, status: 'completed' },
      { kind: 'completed', detail: 'Paid by the ETHEREUM rail.', txHash: '0xab', txIndex: '1' },
    ],
    [
      'failed',
      wire,
      { ...PENDING, status: 'failed', reason: 'Closed.' },
      { kind: 'failed', reason: 'The rail did not make the payment.', privateReason: 'Closed.' },
    ],
  ] as const)('%s', (_, facts, body, expected) => {
    expect(stateOf(answered(200, body), 'k-1', facts, validation)).toEqual(expected);
  });

  it('says that the key is unknown only if the adapter says so', () => {
    expect(stateOf(answered(404, { outcome: 'not_found' }), 'k-1', wire, validation)).toEqual({
      kind: 'not-found',
    });
  });

  it.each([
    ['a 404 of something else', answered(404, { detail: 'no such route' }), 'answers 404'],
    ['an outage', answered(503, { outcome: 'not_found' }), 'answers 503'],
    ['no connection', { kind: 'not-sent', reason: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    ['no answer', { kind: 'no-answer', reason: 'no answer within 8000 ms' }, 'no answer'],
    ['another key', answered(200, { ...PENDING, key: 'k-2' }), '/key must be k-1'],
    ['no payment', answered(200, {}), 'is not a payment'],
  ] as const)('says nothing: %s', (_, reply, message) => {
    expect(() => stateOf(reply, 'k-1', wire, validation)).toThrow(message);
  });

  it('does not accept a completed payment on a chain without its transaction', () => {
    const body = { ...PENDING, status: 'completed' };
    expect(() => stateOf(answered(200, body), 'k-1', chain, validation)).toThrow('/tx_hash is required');
  });
});
