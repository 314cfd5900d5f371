import type { Operation } from '../support/openapi.ts';
import type { Random } from './random.ts';
import { hostileText, hostileTime, malformedId, UNICODE } from './values.ts';

/** Cursors that lists gave to the caller and to another customer, by the path of the list. */
export type Cursors = {
  readonly own: Readonly<Record<string, string>>;
  readonly foreign: Readonly<Record<string, string>>;
};

export type QueryMaterial = {
  readonly cursors: Cursors;
  /** Of the caller, of another customer, and of nobody. */
  ownId(parameter: string): string;
  foreignId(parameter: string): string;
  unknownId(parameter: string): string;
};

type Parameter = Operation['parameters'][number];
type Mutate = (
  parameters: readonly Parameter[],
  path: string,
  random: Random,
  material: QueryMaterial,
) => string | undefined;

/** Leaves nothing to chance: lone surrogates cannot be encoded, and are sent as bytes that are not UTF-8. */
const encode = (text: string): string =>
  text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ed%a0%80`;

const pair = (name: string, value: string): string => `${encode(name)}=${encode(value)}`;

const NUMBERS = [
  '0',
  '-1',
  '1001',
  '1e2',
  '0x10',
  '1.0',
  ' 1',
  '1 ',
  '',
  '٣',
  '999999999999',
  '9'.repeat(300),
  'NaN',
  'null',
  '1;2',
  '1&limit=2',
];

/** Ids of Ferry, and those of its clients. */
const isId = (name: string, schema: any): boolean =>
  /ids?$/.test(name) && (schema?.pattern !== undefined || schema?.format === 'uuid');

/** A value of the shape that the parameter has, but not of its meaning; longer waits would only make the run slow. */
function validValue({ name, schema }: Parameter, random: Random, material: QueryMaterial): string {
  const one = schema.items ?? schema;
  if (isId(name, one)) return material.ownId(name);
  if (Array.isArray(one.enum)) return String(random.pick(one.enum));
  if (name === 'wait_seconds') return '0';
  if (one.type === 'integer') return String(random.pick([one.minimum ?? 1, 2, one.maximum ?? 10]));
  if (one.format === 'date-time') return random.pick(['2020-01-01T00:00:00Z', '2100-01-01T00:00:00.5+01:00']);
  return 'x';
}

function hostileValue(parameter: Parameter, path: string, random: Random, material: QueryMaterial): string {
  const one = parameter.schema.items ?? parameter.schema;
  if (parameter.name === 'page_cursor') return hostileCursor(path, random, material.cursors);
  if (isId(parameter.name, one) && random.chance(0.8))
    return malformedId(random, material.ownId(parameter.name));
  if (one.type === 'integer') return random.pick(NUMBERS);
  if (one.format === 'date-time') return hostileTime(random);
  return hostileText(random);
}

/** Of another list, of another customer, cut, with changed bits, invented. */
function hostileCursor(path: string, random: Random, { own, foreign }: Cursors): string {
  const mine = own[path] ?? random.pick(Object.values(own));
  const flipped = Buffer.from(mine);
  const at = random.below(flipped.length);
  flipped[at] = flipped[at]! ^ (1 << random.below(7));
  return random.pick([
    mine,
    foreign[path] ?? random.pick(Object.values(foreign)),
    random.pick(Object.values(own)),
    random.pick(Object.values(foreign)),
    mine.slice(0, random.below(mine.length)),
    mine + mine,
    `${mine}=`,
    flipped.toString('latin1'),
    Buffer.from('transfers created_at DESC 0 00000000-0000-0000-0000-000000000000').toString('base64url'),
    Buffer.from('profiles created_at DESC -9999999999999999999 x').toString('base64url'),
    '',
    '0',
    'A'.repeat(201),
    'null',
  ]);
}

export const QUERY_MUTATIONS: Readonly<Record<string, Mutate>> = {
  'valid query': (parameters, _path, random, material) => {
    const some = parameters.filter((one) => one.name !== 'page_cursor' && random.chance(0.25));
    return some.map((one) => pair(one.name, validValue(one, random, material))).join('&');
  },
  'hostile parameter': (parameters, path, random, material) => {
    if (parameters.length === 0) return undefined;
    const one = random.pick(parameters);
    return pair(one.name, hostileValue(one, path, random, material));
  },
  cursor: (parameters, path, random, material) =>
    parameters.some((one) => one.name === 'page_cursor')
      ? pair('page_cursor', hostileCursor(path, random, material.cursors))
      : undefined,
  'unknown parameter': (_parameters, _path, random) => {
    const name = random.pick([
      'x',
      'Limit',
      'limit ',
      '__proto__',
      'constructor',
      '',
      'limit[]',
      'limit[a]',
      'access_token',
      '\u0000',
      'x'.repeat(3_000),
    ]);
    return pair(name, random.pick(['1', '', hostileText(random)]));
  },
  'repeated parameter': (parameters, _path, random, material) => {
    if (parameters.length === 0) return undefined;
    const one = random.pick(parameters);
    const count = random.pick([2, 3, 101]);
    return Array.from({ length: count }, () => pair(one.name, validValue(one, random, material))).join('&');
  },
  'foreign filter': (parameters, _path, random, material) => {
    const filters = parameters.filter((one) => isId(one.name, one.schema.items));
    if (filters.length === 0) return undefined;
    const { name } = random.pick(filters);
    const ids = [material.foreignId(name), material.unknownId(name), material.ownId(name)];
    return ids
      .slice(0, 1 + random.below(3))
      .map((id) => pair(name, id))
      .join('&');
  },
  'bad escapes': (parameters, _path, random) => {
    const name = parameters.length === 0 ? 'limit' : random.pick(parameters).name;
    const bad = random.pick([
      '%',
      '%0',
      '%zz',
      '%00',
      '%ff',
      '%c0%af',
      '%ed%a0%80',
      '%u0041',
      '+',
      '%2B',
      '%26x=1',
      '%EF%BB%BF',
    ]);
    return `${name}=${bad}`;
  },
  'odd syntax': (parameters, _path, random) => {
    const name = parameters.length === 0 ? 'limit' : random.pick(parameters).name;
    return random.pick([
      name,
      '&&&',
      '=',
      '=1',
      '&=&',
      `${name}=1;${name}=2`,
      `?${name}=1`,
      `${name}==1`,
      `${name}=1#x`,
      `${name}[0]=1`,
      `${name}.a=1`,
    ]);
  },
  'huge query': (parameters, _path, random) => {
    const name = parameters.length === 0 ? 'limit' : random.pick(parameters).name;
    return random.chance(0.5)
      ? `${name}=${'a'.repeat(7_000)}`
      : Array.from({ length: 900 }, (_, index) => `a${index}=1`).join('&');
  },
  'unicode parameter': (parameters, _path, random) => {
    const name = parameters.length === 0 ? 'limit' : random.pick(parameters).name;
    return pair(name, random.pick(UNICODE));
  },
};
