import type { Random } from './random.ts';
import {
  hostileAmount,
  hostileNumber,
  hostileText,
  hostileTime,
  jsonText,
  literal,
  malformedId,
  NO_JSON_TOKENS,
  nested,
  UNICODE,
  wrongType,
} from './values.ts';

/** Bodies that are nearly right: each mutation changes one thing of a valid body. */
type Path = readonly (string | number)[];
type Node = { readonly path: Path; readonly value: unknown };

export type BodyBase = {
  readonly value: unknown;
  readonly schema: any;
  /** The most that the operation accepts. */
  readonly bytesMax: number;
};

export type MutatedBody = {
  readonly bytes: Buffer;
  /** The status of the refusal, where the mutation alone decides it; otherwise the schema of the document does. */
  readonly refusedWith?: number;
};

type Mutate = (base: BodyBase, random: Random) => MutatedBody | undefined;

/** Every value in a body, the body itself first. */
function nodesOf(value: unknown, path: Path = []): Node[] {
  const inner = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  return [{ path, value }, ...inner.flatMap(([name, one]) => nodesOf(one, [...path, name]))];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** A copy with another value at the path; `undefined` removes it. */
function replaced(value: unknown, path: Path, to: unknown): unknown {
  if (path.length === 0) return to;
  const copy = structuredClone(value) as any;
  const holder = path.slice(0, -1).reduce((inner: any, part) => inner[part], copy);
  if (to === undefined) delete holder[path.at(-1)!];
  else Object.defineProperty(holder, path.at(-1)!, { value: to, enumerable: true, configurable: true });
  return copy;
}

/** The schema of the value at a path, as far as it can be followed. */
function schemaAt(schema: any, path: Path): any {
  return path.reduce((at: any, part) => {
    const choices = [at, ...(at?.anyOf ?? []), ...(at?.oneOf ?? [])];
    const found = choices.map((one) => one?.properties?.[part] ?? one?.items ?? one?.additionalProperties);
    return found.find((one) => typeof one === 'object');
  }, schema);
}

const json = (value: unknown): MutatedBody => ({ bytes: Buffer.from(jsonText(value)) });
const refused = (text: string | Buffer, status = 400): MutatedBody => ({
  bytes: Buffer.from(text as string),
  refusedWith: status,
});

const leaves = ({ value }: BodyBase): Node[] =>
  nodesOf(value).filter((node) => node.value === null || typeof node.value !== 'object');
const objects = ({ value }: BodyBase): Node[] => nodesOf(value).filter((node) => isObject(node.value));
const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

/** A bad value of the kind that belongs there. */
function hostileValue(node: Node, schema: any, random: Random): unknown {
  const name = String(node.path.at(-1));
  if (random.chance(0.15)) return hostileNumber(random);
  if (isId(node.value)) return malformedId(random, node.value);
  if (name === 'amount' || name === 'total') return hostileAmount(random);
  if (schema?.format === 'date-time') return hostileTime(random);
  if (Array.isArray(schema?.enum) && random.chance(0.7)) {
    const known = String(random.pick(schema.enum));
    return random.pick([
      known.toLowerCase(),
      `${known} `,
      `${known}\u0000`,
      known.slice(1),
      `${known},${known}`,
    ]);
  }
  return hostileText(random);
}

const EXTRA_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'id',
  'status',
  'customer_id',
  '$ref',
  '',
  'amount ',
  'Amount',
  '\u0000',
  '\ud800',
  'x'.repeat(5_000),
];

/** Text with a name that is there already, at the start of a random object. */
function withDuplicate({ value }: BodyBase, random: Random): string | undefined {
  const candidates = nodesOf(value).filter(
    (node) => isObject(node.value) && Object.keys(node.value).length > 0,
  );
  if (candidates.length === 0) return undefined;
  const { path, value: found } = random.pick(candidates);
  const object = found as Record<string, unknown>;
  const name = random.pick(Object.keys(object));
  const second = random.chance(0.5) ? object[name] : random.pick(['x', null, literal('1'), {}, []]);
  const written = JSON.stringify(name);
  const escaped = `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${written.slice(2)}`;
  const pair = `${random.chance(0.5) ? written : escaped}:${jsonText(second)}`;
  // The object is written by hand, and stands in the text in place of a marker.
  const text = random.chance(0.5)
    ? `{${pair},${jsonText(object).slice(1)}`
    : `${jsonText(object).slice(0, -1)} , ${pair}}`;
  return jsonText(replaced(value, path, 'HERE')).replace('"HERE"', () => text);
}

const BROKEN: readonly ((text: string, random: Random) => string | Buffer)[] = [
  () => '',
  () => '   ',
  (text) => `\ufeff${text}`,
  (text) => `${text}${text}`,
  (text) => `${text},`,
  (text) => text.replace(/\}$/, ',}'),
  (text) => `${text}//`,
  (text) => `/**/${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace('"', ''),
  (text) => text.replace(':', '='),
  (text) => text.replace(/"[^"]*"(?=[,}])/, '"a\u0001b"'),
  (text) => text.replace(/"[^"]*"(?=[,}])/, '"a\nb"'),
  (text) => text.replace(/"[^"]*"(?=[,}])/, '"\\x41"'),
  (text) => text.replace(/"[^"]*"(?=[,}])/, '"\\ud8"'),
  (text, random) => text.replace(/"[^"]*"(?=[,}])/, random.pick(NO_JSON_TOKENS)),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
  (text, random) => text.slice(0, 1 + random.below(Math.max(1, text.length - 1))),
  () => '\u0000',
  () => '{]',
  () => '<a/>',
  () => 'a=b&c=d',
];

const BAD_UTF8 = [
  [0xff],
  [0xc0, 0x80],
  [0xc0, 0xaf],
  [0xe0, 0x80, 0xaf],
  [0xf0, 0x80, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
];

/** Bytes that are not UTF-8 inside the first text of the body. */
function withBadUtf8({ value }: BodyBase, random: Random): Buffer | undefined {
  const text = jsonText(value);
  const at = text.indexOf(':"');
  if (at < 0) return undefined;
  return Buffer.concat([
    Buffer.from(text.slice(0, at + 2)),
    Buffer.from(random.pick(BAD_UTF8)),
    Buffer.from(text.slice(at + 2)),
  ]);
}

export const BODY_MUTATIONS: Readonly<Record<string, Mutate>> = {
  'wrong type': ({ value }, random) => {
    const { path, value: found } = random.pick(nodesOf(value));
    return json(replaced(value, path, wrongType(random, found)));
  },
  'missing field': ({ value }, random) => {
    const nodes = nodesOf(value).filter(({ path }) => path.length > 0);
    return nodes.length === 0 ? undefined : json(replaced(value, random.pick(nodes).path, undefined));
  },
  'extra field': (base, random) => {
    const { path } = random.pick(objects(base));
    const name = random.chance(0.8) ? random.pick(EXTRA_NAMES) : `field_${random.below(1_000)}`;
    return json(replaced(base.value, [...path, name], random.pick(['x', '1', {}, null])));
  },
  'hostile value': (base, random) => {
    const nodes = leaves(base);
    if (nodes.length === 0) return undefined;
    const node = random.pick(nodes);
    return json(
      replaced(base.value, node.path, hostileValue(node, schemaAt(base.schema, node.path), random)),
    );
  },
  unicode: (base, random) => {
    const texts = leaves(base).filter((node) => typeof node.value === 'string' && !isId(node.value));
    if (texts.length === 0) return undefined;
    const node = random.pick(texts);
    const text = random.pick(UNICODE);
    const to = random.pick([text, `${String(node.value)}${text}`, `${text}${String(node.value)}`]);
    return json(replaced(base.value, node.path, to));
  },
  'optional field': ({ value, schema }, random) => {
    // Fields that the example does not show, with anything in them.
    const hidden = Object.entries<any>(schema.properties ?? {}).filter(
      ([name]) => !(name in (value as object)),
    );
    if (hidden.length === 0) return undefined;
    const [name, one] = random.pick(hidden);
    const node = { path: [name], value: one.type === 'string' ? 'x' : null };
    const plain =
      one.type === 'object'
        ? { [random.pick(['a', '__proto__', '', UNICODE[5]!])]: hostileText(random) }
        : hostileValue(node, one, random);
    return json(replaced(value, [name], random.chance(0.3) ? wrongType(random, node.value) : plain));
  },
  'array size': ({ value }, random) => {
    const arrays = nodesOf(value).filter((node) => Array.isArray(node.value));
    if (arrays.length === 0) return undefined;
    const { path, value: found } = random.pick(arrays);
    const items = found as unknown[];
    const sizes = [0, 2, 101, 1_001];
    const size = random.pick(sizes);
    return json(
      replaced(
        value,
        path,
        Array.from({ length: size }, (_, index) => items[index % Math.max(1, items.length)] ?? null),
      ),
    );
  },
  'duplicated key': (base, random) => {
    const text = withDuplicate(base, random);
    return text === undefined ? undefined : refused(text);
  },
  'deep nesting': ({ value }, random) => {
    const depth = random.pick([31, 33, 100, 5_000, 20_000]);
    const body = json(replaced(value, random.pick(nodesOf(value)).path, nested(random, depth)));
    return depth > 32 ? { ...body, refusedWith: 400 } : body;
  },
  'broken JSON': ({ value }, random) => {
    const text = jsonText(value);
    const broken = Buffer.from(random.pick(BROKEN)(text, random) as string);
    return broken.equals(Buffer.from(text)) ? undefined : refused(broken);
  },
  'bad UTF-8': (base, random) => {
    const bytes = withBadUtf8(base, random);
    return bytes === undefined ? undefined : refused(bytes);
  },
  'many values': ({ value, bytesMax }, random) => {
    const many = random.chance(0.5)
      ? Array.from({ length: 25_000 }, (_, index) => index)
      : Object.fromEntries(Array.from({ length: 21_000 }, (_, index) => [`a${index}`, 1]));
    const text = jsonText(replaced(value, random.pick(nodesOf(value)).path, many));
    return refused(text, Buffer.byteLength(text) > bytesMax ? 413 : 400);
  },
  'not an object': (_base, random) =>
    refused(random.pick(['null', 'true', '0', '""', '"text"', '[]', '[{}]', '[null]', '[[[]]]'])),
  oversized: ({ value, bytesMax }, random) => {
    const text = jsonText(value);
    const length = random.pick([bytesMax, bytesMax + 1, bytesMax + 50_000]);
    const padded = text + ' '.repeat(Math.max(0, length - Buffer.byteLength(text)));
    return length > bytesMax ? refused(padded, 413) : { bytes: Buffer.from(padded) };
  },
  'long text': (base, random) => {
    const nodes = leaves(base);
    if (nodes.length === 0) return undefined;
    const { path } = random.pick(nodes);
    return json(
      replaced(
        base.value,
        path,
        random.pick(['a', '\u{1f6a2}', '1', '\\', ' ']).repeat(random.pick([200, 3_000, 40_000])),
      ),
    );
  },
};
