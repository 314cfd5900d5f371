import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Random } from './random.ts';

export type Header = readonly [name: string, value: string];

/** What a mutation of headers makes of a request that is right otherwise. */
export type MutatedHeaders = {
  readonly headers: readonly Header[];
  /** Replaces the content type; null sends none. */
  readonly contentType?: string | null;
  readonly body?: Buffer;
  /** The statuses of the refusal, where the mutation alone decides it. */
  readonly refusedWith?: readonly number[];
};

type Mutate = (body: Buffer | undefined, random: Random) => MutatedHeaders | undefined;

const REFUSED_TYPES = [
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/problem+json',
  'application/jsonx',
  'image/png',
  '*/*',
  'text/json',
  'application/json-patch+json',
  'application/octet-stream',
];
const REFUSED_CHARSETS = [
  'application/json; charset=utf-16',
  'application/json;charset=latin1',
  'application/json; charset="iso-8859-1"',
  'application/json; charset=utf-7',
  'application/json; charset=',
];
const ODD_TYPES = [
  'APPLICATION/JSON',
  'application/json;',
  'application/json;;',
  'application/json ; charset=UTF-8',
  'application/json; charset="utf-8"',
  'application/json; q=1',
  'application/json, text/plain',
  'application/json; boundary=x',
  'application/json; charset=utf8',
  'application',
  '/',
  ';',
  'application/json\u00a0',
  'json',
];

const compressed = (encoding: string, body: Buffer): Buffer => {
  if (encoding === 'gzip' || encoding === 'x-gzip') return gzipSync(body);
  if (encoding === 'br') return brotliCompressSync(body);
  return encoding === 'deflate' ? deflateSync(body) : body;
};

const ODD_HEADERS: readonly Header[] = [
  ['X-Request-Id', 'x'.repeat(200)],
  ['X-Request-Id', 'a b\tc'],
  ['X-Request-Id', '\u00ff\u00fe'],
  ['X-Request-Id', '$\u007bjndi:ldap://x}'],
  ['X-Forwarded-For', "' or 1=1 --"],
  ['X-Forwarded-For', `${'10.0.0.1, '.repeat(500)}10.0.0.1`],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Original-URL', '/v2/operator/fiat-accounts'],
  ['Forwarded', 'for=_x;by=__proto__'],
  ['Accept', 'text/html;q=0.9, */*;q=nonsense'],
  ['Accept', 'image/*'],
  ['Accept-Encoding', 'gzip;q=x, br;q=-1'],
  ['Accept-Charset', 'utf-16'],
  ['Accept-Language', 'x'.repeat(1_000)],
  ['Range', 'bytes=0-1,-1,999999999999-'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'never'],
  ['Cookie', `a=${'b'.repeat(4_000)}`],
  ['Origin', 'null'],
  ['TE', 'trailers, deflate;q=x'],
  ['Trailer', 'Authorization'],
  ['Upgrade', 'h2c'],
  ['Connection', 'X-Request-Id'],
  ['Via', '1.1 x'],
  ['Last-Event-ID', '\u00e9\u00e9'],
  ['Last-Event-ID', '00000000-0000-0000-0000-000000000000'],
  ['Prefer', 'return=minimal'],
  ['Content-Language', '*'],
  ['Content-MD5', 'x'],
  ['Digest', 'sha-256=x'],
  ['Transfer-Encoding-X', 'chunked'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
];

export const HEADER_MUTATIONS: Readonly<Record<string, Mutate>> = {
  'content type': (body, random) => {
    if (body === undefined) return undefined;
    const kind = random.below(4);
    if (kind === 0) return { headers: [], contentType: random.pick(REFUSED_TYPES), refusedWith: [415] };
    if (kind === 1)
      return { headers: [], contentType: random.pick(REFUSED_CHARSETS), refusedWith: [400, 415] };
    return kind === 2
      ? { headers: [], contentType: null }
      : { headers: [], contentType: random.pick(ODD_TYPES) };
  },
  'content encoding': (body, random) => {
    if (body === undefined) return undefined;
    const encoding = random.pick([
      'gzip',
      'x-gzip',
      'br',
      'deflate',
      'zstd',
      'x-unknown',
      'GZIP',
      'gzip, gzip',
      'identity, gzip',
      '',
    ]);
    return {
      headers: [['Content-Encoding', encoding]],
      body: compressed(encoding, body),
      // 400 at the OAuth endpoints, whose errors RFC 6749 defines.
      ...(encoding === '' ? {} : { refusedWith: [400, 415] }),
    };
  },
  'odd header': (_body, random) => ({ headers: [random.pick(ODD_HEADERS)] }),
  'many headers': (_body, random) => {
    const count = random.pick([50, 500, 1_500]);
    return { headers: Array.from({ length: count }, (_, index): Header => [`X-${index}`, 'x']) };
  },
  'huge header': (_body, random) => ({
    headers: [['X-Huge', 'x'.repeat(random.pick([4_000, 14_000, 20_000, 70_000]))]],
  }),
  'idempotency key': (_body, random) => ({
    headers: [
      [
        'Idempotency-Key',
        random.pick([
          '',
          '""',
          '"',
          '"a"b"',
          'x'.repeat(129),
          'x'.repeat(5_000),
          '\u00e9',
          'key\tx',
          '"\\x"',
          '__proto__',
          `key-${random.below(50)}`,
        ]),
      ],
    ],
  }),
};
