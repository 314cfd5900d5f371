import { isIdSchema } from '../support/openapi.ts';
import type { Random } from './random.ts';
import { hostileAmount, hostileText, hostileTime, UNICODE } from './values.ts';

/** Bodies that are made from the schema alone: also of fields and alternatives that no example shows, and at every bound. */
export type SchemaMaterial = {
  readonly random: Random;
  /** An id for a field of this name. */
  idFor(name: string): string;
};

const ASSETS = ['USD', 'BTC', 'ETH', 'SOL', 'LTC', 'BCH', 'POL', 'USDC', 'PUSD', 'usd', '__proto__'];
const ADDRESSES = [
  'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  '0x52908400098527886E0F7030069857D2E4169EE7',
  'DYw8jCTfwHNRJhhmFcbXvVDTqWMEVFBX6ZKUmG5CNSKK',
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
];
const URLS = [
  'http://127.0.0.1:9/',
  'http://127.0.0.1:9/\u202e',
  'http://user:password@127.0.0.1:9/',
  'http://0x7f000001:9/',
  'http://[::1]:9/',
  'http://127.0.0.1:0/',
  'http://127.0.0.1:99999/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//127.0.0.1/',
  'http://',
  'http://[',
];

/** A text at a bound of its length, or just beyond it; lengths count code points. */
function textFor({ minLength = 0, maxLength = 50 }: any, random: Random): string {
  const letter = random.pick(['a', 'ü', '\u{1f6a2}', 'e\u0301', '漢']);
  const [first = 'a'] = letter;
  const length = random.pick([
    minLength,
    maxLength,
    maxLength + 1,
    Math.max(0, minLength - 1),
    Math.min(12, maxLength),
  ]);
  return random.chance(0.2) ? hostileText(random) : first.repeat(length);
}

function stringFor(schema: any, name: string, { random, idFor }: SchemaMaterial): string {
  if (isIdSchema(schema)) return idFor(name);
  if (schema.format === 'date-time') {
    const soon = new Date(Date.now() + 86_400_000 * (1 + random.below(60))).toISOString();
    return random.chance(0.6) ? soon : hostileTime(random);
  }
  if (name === 'amount' || name === 'total')
    return random.chance(0.6) ? random.pick(['1', '0.5', '25']) : hostileAmount(random);
  if (name.endsWith('asset')) return random.pick(ASSETS);
  if (name.endsWith('address')) return random.pick(ADDRESSES);
  if (name === 'url') return random.pick(URLS);
  return textFor(schema, random);
}

function arrayFor(schema: any, name: string, material: SchemaMaterial): unknown[] {
  const { minItems = 0, maxItems = 3 } = schema;
  const { random } = material;
  const size = random.chance(0.9) ? random.pick([minItems, 1, 2]) : Math.min(1_001, maxItems + 1);
  return Array.from({ length: size }, () => valueFor(schema.items, name, material));
}

/** A map with any keys, such as metadata. */
function mapFor({ additionalProperties, maxProperties = 6 }: any, material: SchemaMaterial): object {
  const { random } = material;
  const size = random.pick([0, 1, maxProperties, maxProperties + 1]);
  const keys = [
    'a',
    'b',
    'c',
    'constructor',
    '__proto__',
    '',
    'x'.repeat(100),
    'x'.repeat(101),
    random.pick(UNICODE),
  ];
  const pairs = Array.from({ length: size }, (_, index) => [
    random.chance(0.8) ? `key${index}` : random.pick(keys),
    valueFor(additionalProperties, '', material),
  ]);
  return Object.fromEntries(pairs);
}

export function valueFor(schema: any, name: string, material: SchemaMaterial): unknown {
  const { random } = material;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return valueFor(random.pick(choices), name, material);
  if (schema.const !== undefined) return schema.const;
  // Nobody would lift this freeze of the whole platform: `run.ts` makes some, and lifts them.
  if (Array.isArray(schema.enum))
    return random.pick(schema.enum.filter((one: unknown) => one !== 'PLATFORM'));
  switch ([schema.type].flat()[0]) {
    case 'string':
      return stringFor(schema, name, material);
    case 'integer':
    case 'number':
      return random.pick([
        schema.minimum ?? 0,
        schema.maximum ?? 1,
        (schema.minimum ?? 0) - 1,
        (schema.maximum ?? 1) + 1,
      ]);
    case 'boolean':
      return random.chance(0.5);
    case 'array':
      return arrayFor(schema, name, material);
    default:
      if (typeof schema.additionalProperties === 'object') return mapFor(schema, material);
      return objectFor(schema, material);
  }
}

function objectFor({ properties = {}, required = [] }: any, material: SchemaMaterial): object {
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || material.random.chance(0.4),
  );
  return Object.fromEntries(names.map((name) => [name, valueFor(properties[name], name, material)]));
}
