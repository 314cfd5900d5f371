import type { Random } from './random.ts';

/** Values that programs tend to get wrong. */

/** The JSON text of a value that `JSON.stringify` cannot write, in place of the string that `literal` returns. */
const LITERAL = /"\u{1F6A9}([^"]*)\u{1F6A9}"/gu;

export const literal = (token: string): string => `\u{1F6A9}${token}\u{1F6A9}`;

/** A token cannot contain quotes; this stands for one. */
const QUOTE = '\u{1F4CC}';

/** JSON in which the marked strings are replaced by their tokens: numbers of any size, and what is no JSON at all. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(LITERAL, '$1').replaceAll(QUOTE, '"');
}

const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '9007199254740993',
  '-9007199254740993',
  '18446744073709551616',
  '123456789012345678901234567890',
  '1e400',
  '-1e400',
  '1e-400',
  '1E+2',
  '0.1e1',
  '0.30000000000000000000000000000001',
  `1${'0'.repeat(400)}`,
].map(literal);

/** No JSON: other parsers accept them. */
export const NO_JSON_TOKENS = [
  'NaN',
  'Infinity',
  '-Infinity',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  '1_000',
  'undefined',
  "'1'",
];

export const UNICODE = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff',
  'x\udc00\ud800y',
  '\u202eevil\u202c',
  'e\u0301'.repeat(20),
  'Z\u0351\u036b\u0343\u032a\u0302'.repeat(10),
  '\ufeff',
  '\ufeffUSD',
  '\uffff',
  '\u{10ffff}',
  '\u2028\u2029',
  '\u200b\u200d\ufe0f',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'.repeat(8),
  '\u0085\u00a0\u3000',
  '\u0007\u001b[31m',
  '\r\nSet-Cookie: a=b',
  '\u0130\u0131\u017f\u212a',
  '\uff11\uff12',
  '\u0661\u0662',
  '\ufdfa'.repeat(50),
];

const TEXTS = [
  '',
  ' ',
  '\t',
  '\n',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  "' or 1=1; --",
  '"; drop table transfers; --',
  '$1',
  '$\u007b7*7}',
  '{{7*7}}',
  '%s%n%x',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd()',
  '\\',
  '"',
  '\\u0000',
  'a'.repeat(101),
  'a'.repeat(129),
  'a'.repeat(141),
  'a'.repeat(501),
  'a'.repeat(10_000),
  '\u{1f6a2}'.repeat(141),
];

const AMOUNTS = [
  '0',
  '-1',
  '+1',
  '00',
  '01',
  '0.0',
  '.',
  '.5',
  '1.',
  '1e5',
  '1E5',
  ' 1',
  '1 ',
  '1,000',
  '1_000',
  '0x10',
  'NaN',
  'Infinity',
  '1.0000000000000000001',
  '0.00000001',
  '0.000000000000000001',
  '0.1',
  `0.${'0'.repeat(199)}1`,
  `0.${'0'.repeat(250)}1`,
  '99999999999999999999',
  '99999999999999999999.99',
  '100000000000000000000',
  '9'.repeat(400),
  '1.00',
  '\u0661',
  '\uff11',
  '1\u0000',
  '\u22121',
];

const TIMES = [
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-01-01t00:00:00z',
  '2026-01-01T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01T00:00:00.1234567891234Z',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01T00:00:00-00:00',
  '2026-01-01T00:00:00+23:59',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1677-09-21T00:12:43Z',
  '2262-04-11T23:47:17Z',
  '9999-12-31T23:59:59.999999999Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '1e9',
  '0',
  'now',
];

/** Ids that are none, of the kind that a lenient parser accepts. */
export function malformedId(random: Random, id: string): string {
  return random.pick([
    '',
    '0',
    'null',
    id.toUpperCase(),
    id.replaceAll('-', ''),
    `{${id}}`,
    `urn:uuid:${id}`,
    ` ${id}`,
    `${id} `,
    `${id}\u0000`,
    `${id}0`,
    id.slice(1),
    id.replace(/.$/, 'g'),
    id.replace('-', '\u2010'),
    `${id}' or '1'='1`,
    `${id},${id}`,
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '../'.repeat(8),
    'x'.repeat(300),
  ]);
}

export const hostileText = (random: Random): string => random.pick(random.chance(0.4) ? UNICODE : TEXTS);
export const hostileAmount = (random: Random): string => random.pick(AMOUNTS);
export const hostileTime = (random: Random): string => random.pick(TIMES);
export const hostileNumber = (random: Random): string => random.pick(NUMBERS);

/** The type of a value in JSON's terms. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A value of another type than the one that stands there. */
export function wrongType(random: Random, value: unknown): unknown {
  const others: readonly unknown[] = [
    null,
    true,
    false,
    literal('1'),
    literal('12345678901234567890'),
    'text',
    [],
    {},
    [value],
    { value },
    [[]],
    { length: 1, 0: value },
    { toString: 'x', valueOf: 'y' },
  ];
  // A marked string is a number on the wire.
  const wireType = (one: unknown): string =>
    typeof one === 'string' && one.startsWith('\u{1F6A9}') ? 'number' : typeOf(one);
  return random.pick(others.filter((one) => wireType(one) !== typeOf(value)));
}

/** So many arrays or objects inside each other. */
export function nested(random: Random, depth: number): string {
  return random.chance(0.5)
    ? literal('['.repeat(depth) + ']'.repeat(depth))
    : literal(`${`{${QUOTE}a${QUOTE}:`.repeat(depth)}1${'}'.repeat(depth)}`);
}
