import { describe, expect, it } from 'vitest';
import { crossSiteFault, placeOf, readCookie } from './place.ts';

describe('a public URL', () => {
  it.each([
    ['https://pay.example', ['https://pay.example'], 'pay.example', 'https://pay.example'],
    [
      'https://pay.example:8443/ferry',
      ['https://pay.example:8443'],
      'pay.example',
      'https://pay.example:8443/ferry',
    ],
    [
      'http://127.0.0.1:8080',
      ['http://127.0.0.1:8080', 'http://localhost:8080'],
      'localhost',
      'http://localhost:8080',
    ],
    [
      'http://[::1]:8080',
      ['http://[::1]:8080', 'http://localhost:8080'],
      'localhost',
      'http://localhost:8080',
    ],
    ['http://localhost:8080', ['http://localhost:8080'], 'localhost', 'http://localhost:8080'],
    ['http://192.0.2.7:8080', ['http://192.0.2.7:8080'], undefined, 'http://192.0.2.7:8080'],
    ['https://[2001:db8::1]', ['https://[2001:db8::1]'], undefined, 'https://[2001:db8::1]'],
  ])(
    '%s has these origins, this domain for passkeys, and people sign in there',
    (url, origins, domain, there) => {
      const place = placeOf(url);
      expect([place.origins, place.passkeyDomain, place.url]).toEqual([origins, domain, there]);
    },
  );
});

describe('a cookie', () => {
  it('is read by its whole name, and not at all if there are two', () => {
    expect(readCookie('a=1; ferry_session=x=y; b=2', 'ferry_session')).toBe('x=y');
    expect(readCookie('not_ferry_session=x', 'ferry_session')).toBeUndefined();
    expect(readCookie('ferry_session=x; ferry_session=x', 'ferry_session')).toBeUndefined();
    expect(readCookie(undefined, 'ferry_session')).toBeUndefined();
  });
});

describe('a request that changes something', () => {
  const place = { origins: ['https://pay.example'] };
  const fault = (headers: Record<string, string>, method = 'POST') =>
    crossSiteFault({ method, headers }, place);

  it.each([
    ['the same origin', { origin: 'https://pay.example', 'sec-fetch-site': 'same-origin' }, true],
    ['an older browser without Sec-Fetch-Site', { origin: 'https://pay.example' }, true],
    ['a browser without Origin', { 'sec-fetch-site': 'same-origin' }, true],
    ['another origin', { origin: 'https://evil.example' }, false],
    ['another scheme', { origin: 'http://pay.example' }, false],
    ['another port', { origin: 'https://pay.example:8443' }, false],
    ['a sibling domain', { origin: 'https://pay.example', 'sec-fetch-site': 'same-site' }, false],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
    ['nowhere in particular', {}, false],
  ])('from %s', (_from, headers, isAccepted) => {
    expect(fault(headers as Record<string, string>) === undefined).toBe(isAccepted);
    expect(fault(headers as Record<string, string>, 'GET')).toBeUndefined();
  });
});
