import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newSecret } from '../webhooks/secrets.ts';
import { signatureFault, signedHeaders } from './signature.ts';

const [secret, previous] = [newSecret(), newSecret()];
const NOW_MS = Date.now();
const body = '{"amount":"1.5"}';
const PUT = { method: 'PUT', target: '/payments/k', body };
const headerOf = (headers: Record<string, string>) => (name: string) => headers[name];

describe('requests to adapters', () => {
  it('are verified by libraries of Standard Webhooks, which sign the body', () => {
    const headers = signedHeaders([secret], PUT, NOW_MS);
    expect(new Webhook(secret).verify(body, headers)).toEqual({ amount: '1.5' });
    expect(() => new Webhook(secret).verify('{"amount":"15"}', headers)).toThrow();
  });

  it('without a body sign their method and target', () => {
    const headers = signedHeaders([secret], { method: 'GET', target: '/base/quote?asset=USD' }, NOW_MS);
    const at = (payload: string) => signatureFault([secret], headerOf(headers), payload, NOW_MS);
    expect(at('GET /base/quote?asset=USD')).toBeUndefined();
    expect(at('GET /base/quote?asset=EUR')).toContain('does not match');
  });

  it('are signed with both secrets while one is replaced', () => {
    const headers = signedHeaders([secret, previous], PUT, NOW_MS);
    for (const one of [secret, previous]) expect(new Webhook(one).verify(body, headers)).toBeTruthy();
  });
});

describe('requests of adapters', () => {
  const sign = (by: string, atMs = NOW_MS) => {
    const date = new Date(atMs);
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': new Webhook(by).sign('msg_1', date, body),
    };
  };
  const fault = (headers: Record<string, string>, text = body, secrets = [secret, previous]) =>
    signatureFault(secrets, headerOf(headers), text, NOW_MS);

  it('that libraries of Standard Webhooks signed are accepted, with either secret', () => {
    expect(fault(sign(secret))).toBeUndefined();
    expect(fault(sign(previous))).toBeUndefined();
    expect(
      fault({ ...sign(secret), 'webhook-signature': `v1,AAAA ${sign(secret)['webhook-signature']}` }),
    ).toBeUndefined();
  });

  it.each([
    ['another secret', sign(newSecret()), body, 'does not match'],
    ['another body', sign(secret), `${body} `, 'does not match'],
    ['another id', { ...sign(secret), 'webhook-id': 'msg_2' }, body, 'does not match'],
    [
      'another timestamp',
      { ...sign(secret), 'webhook-timestamp': String(Math.floor(NOW_MS / 1_000) - 1) },
      body,
      'does not match',
    ],
    ['no signature', { ...sign(secret), 'webhook-signature': '' }, body, 'must have the headers'],
    ['a timestamp that is none', { ...sign(secret), 'webhook-timestamp': 'now' }, body, 'seconds since 1970'],
    ['an old timestamp', sign(secret, NOW_MS - 301_000), body, 's behind the clock of this service'],
    [
      'a timestamp of the future',
      sign(secret, NOW_MS + 302_000),
      body,
      's ahead of the clock of this service',
    ],
  ])('with %s are refused', (_, headers, text, sentence) => {
    expect(fault(headers, text)).toContain(sentence);
  });
});
