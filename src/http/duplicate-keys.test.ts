import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKey, hasDuplicateKeys } from './duplicate-keys.ts';

const check = (text: string): string | undefined =>
  hasDuplicateKeys(text, JSON.parse(text)) ? duplicateKey(text) : undefined;

describe('a body', () => {
  it.each([
    ['{"amount":"1","amount":"2"}', 'amount'],
    ['{ "amount" : 1 ,\n\t"amount"\r : 1 }', 'amount'],
    ['{"a":{"b":1},"c":[{"d":1},{"e":1,"e":2}]}', 'e'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
  ])('%s has the field %s twice', (text, name) => {
    expect(check(text)).toBe(name);
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
    '{"text":"\\"a\\":1,\\"a\\":2","a":"x:y"}',
    '{"a":"\\\\","b":"\\\\\\""}',
    '[1,"a",":",null,true]',
    '"a"',
    '{}',
  ])('%s has no field twice', (text) => {
    expect(check(text)).toBeUndefined();
  });

  it('that JSON.stringify wrote has no field twice, and one with a repeated field has', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string(), fc.string(), (value, name, other) => {
        const text = JSON.stringify(value, null, name.length % 3);
        expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(false);
        const key = JSON.stringify(name);
        const repeated = `{${key}:${text},${JSON.stringify(`${name}${other}x`)}:1,${key}:${text}}`;
        expect(hasDuplicateKeys(repeated, JSON.parse(repeated))).toBe(true);
        expect(duplicateKey(repeated)).toBe(name);
      }),
    );
  });
});
