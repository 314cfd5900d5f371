import type { Random } from './random.ts';
import { bytesOf, type Raw, type Request } from './requests.ts';

/** Requests that break HTTP itself, or use a corner of it. The request that they are made of is never accepted as a write. */
type Mutate = (request: Request, host: string, random: Random) => Odd;

type Odd = Raw & {
  readonly statuses?: readonly number[];
  /** The request itself is complete: its own answer comes first. */
  readonly keepsAnswer?: boolean;
};

const CLOSE = ['Connection', 'close'] as const;

function written(request: Request, host: string, change: (text: string) => string): Buffer {
  const bytes = bytesOf({ ...request, headers: [...request.headers, CLOSE] }, host);
  return Buffer.from(change(bytes.toString('latin1')), 'latin1');
}

/** Lines after the request line. */
const withLines =
  (lines: readonly string[], statuses?: readonly number[]): Mutate =>
  (request, host) => ({
    bytes: written(request, host, (text) => text.replace('\r\n', `\r\n${lines.join('\r\n')}\r\n`)),
    ...(statuses && { statuses }),
  });

const changed =
  (change: (text: string, random: Random) => string, more: Partial<Odd> = {}): Mutate =>
  (request, host, random) => ({ bytes: written(request, host, (text) => change(text, random)), ...more });

const headWithout = (text: string, name: string): string =>
  text.replace(new RegExp(`\r\n${name}:[^\r]*`, 'i'), '');
/** The head of a request that has no body. */
const bodiless = (text: string): string => {
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
  return headWithout(headWithout(head, 'content-length'), 'transfer-encoding');
};
/** With another framing of the body than the right one. */
const framed = (lines: string, body = '{}'): Mutate =>
  changed((text) => {
    return `${bodiless(text).slice(0, -2)}${lines}\r\n\r\n${body}`;
  });

export const COMMON_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'QUERY'];
/** Others that the parser knows. */
export const RARE_METHODS = [
  'PROPFIND',
  'MKCOL',
  'COPY',
  'LOCK',
  'SEARCH',
  'PURGE',
  'LINK',
  'REPORT',
  'M-SEARCH',
  'SUBSCRIBE',
];

const ODD: Readonly<Record<string, Mutate>> = {
  'two hosts': withLines(['Host: other.example'], [400]),
  'two tokens': withLines(['Authorization: Bearer a', 'Authorization: Bearer b'], [400]),
  'two content types': withLines(['Content-Type: application/json', 'Content-Type: text/plain'], [400]),
  'two idempotency keys': withLines(['Idempotency-Key: a', 'Idempotency-Key: b'], [400]),
  'no host': changed((text) => headWithout(text, 'host'), { statuses: [400] }),
  'odd host': changed((text, random) =>
    text.replace(
      /\r\nHost:[^\r]*/,
      `\r\nHost: ${random.pick(['', 'a b', '[::1', '@', '../', 'x'.repeat(300), 'a:99999'])}`,
    ),
  ),
  'HTTP/1.0': changed((text) => text.replace('HTTP/1.1', 'HTTP/1.0')),
  'HTTP/0.9': changed((text) => `${text.split(' HTTP/')[0]}\r\n`, {
    statuses: [400],
    halfClose: true,
    mayGoUnanswered: true,
  }),
  'other version': changed(
    (text, random) =>
      text.replace(
        'HTTP/1.1',
        random.pick(['HTTP/1.2', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', 'HTTP/1', 'FTP/1.1', '']),
      ),
    { mayGoUnanswered: false },
  ),
  'HTTP/2 preface': () => ({ bytes: Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), statuses: [400] }),
  'TLS hello': () => ({ bytes: Buffer.from('16030100c8010000c40303', 'hex'), statuses: [400] }),
  garbage: (_request, _host, random) => ({
    bytes: Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256))),
    halfClose: true,
    mayGoUnanswered: true,
    answersMax: 9,
  }),
  'method in lower case': changed((text) => text.replace(/^\w+/, (method) => method.toLowerCase()), {
    statuses: [405],
  }),
  'unknown method': changed(
    (text, random) => text.replace(/^\w+/, random.pick(['FROB', 'GETT', 'G', '_', 'POST,GET'])),
    // A comma ends what the parser takes for a method.
    { statuses: [400, 405] },
  ),
  CONNECT: changed((text) => bodiless(text).replace(/^\S+ \S+/, 'CONNECT evil.example:443')),
  'OPTIONS *': changed((text) => bodiless(text).replace(/^\S+ \S+/, 'OPTIONS *')),
  'absolute target': changed((text) => text.replace(/^(\S+) /, '$1 http://other.example')),
  'target with a space': changed((text) => text.replace(/^(\S+) (\S+) /, '$1 $2 x '), { statuses: [400] }),
  'target with raw bytes': changed((text) => text.replace(/^(\S+) (\S+) /, '$1 $2\u00e9\u00ff '), {}),
  'target without a slash': changed((text) => text.replace(/^(\S+) \//, '$1 ')),
  'long target': changed((text) => text.replace(/^(\S+) (\S+) /, `$1 $2?${'a'.repeat(20_000)} `)),
  'empty lines first': changed((text) => `\r\n\r\n${text}`),
  'length and chunks': framed('Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
  'two lengths': framed('Content-Length: 2\r\nContent-Length: 3', '{} '),
  'odd length': (request, host, random) =>
    framed(
      `Content-Length: ${random.pick(['-1', '+2', '0x2', '2,2', '2;', '', 'two', '99999999999999999999', '1e1', '２'])}`,
    )(request, host, random),
  'length of a gigabyte': framed('Content-Length: 1073741824', ''),
  'other transfer encoding': (request, host, random) =>
    framed(
      `Transfer-Encoding: ${random.pick(['gzip', 'gzip, chunked', 'chunked, gzip', 'xchunked', 'identity', '"chunked"', 'chunked, chunked'])}`,
      '2\r\n{}\r\n0\r\n\r\n',
    )(request, host, random),
  'bad chunks': (request, host, random) =>
    framed(
      'Transfer-Encoding: chunked',
      random.pick([
        'zz\r\n{}\r\n0\r\n\r\n',
        '-1\r\n{}\r\n0\r\n\r\n',
        'ffffffffffffffffff\r\n{}',
        '2\r\n{}x0\r\n\r\n',
        '2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n',
        '2 \r\n{}\r\n0\r\n\r\n',
        '\r\n',
        `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      ]),
    )(request, host, random),
  'folded header': withLines(['X-Folded: a', ' b']),
  'header without a name': withLines([': x'], [400]),
  'header with a space in its name': withLines(['X Y: z'], [400]),
  'space before the colon': withLines(['X-Odd : z'], [400]),
  'control character in a header': (request, host, random) =>
    withLines([`X-Odd: a${random.pick(['\u0000', '\u0001', '\r', '\u007f'])}b`])(request, host, random),
  'bare line feeds': changed((text) => text.replaceAll('\r\n', '\n')),
  'expects to continue': withLines(['Expect: 100-continue']),
  'expects something else': withLines(['Expect: a-miracle']),
  upgrade: withLines(['Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13']),
  'thousands of headers': withLines(Array.from({ length: 3_000 }, (_, index) => `X-${index}: y`)),
  'cut head': changed((text, random) => text.slice(0, 1 + random.below(bodiless(text).length - 2)), {
    halfClose: true,
    mayGoUnanswered: true,
  }),
  'cut body': changed((text) => text.slice(0, -1), { halfClose: true, mayGoUnanswered: true }),
  'two requests at once': (request, host) => ({
    bytes: Buffer.concat([bytesOf(request, host), written(request, host, (text) => text)]),
    answersMax: 2,
    keepsAnswer: true,
  }),
  'more than the body': (request, host) => ({
    bytes: Buffer.concat([bytesOf(request, host), Buffer.from('{"more":1}')]),
    answersMax: 2,
    keepsAnswer: true,
  }),
};

export const TRANSPORT_KINDS = Object.keys(ODD);

export function oddTransport(
  request: Request,
  host: string,
  random: Random,
  name: string = random.pick(TRANSPORT_KINDS),
): Odd & { readonly name: string } {
  return { ...ODD[name]!(request, host, random), name };
}
