import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText } from './canonical.ts';

type Json = Record<string, unknown>;

/** Random names, and names with a common prefix, which a wrong sort order would get wrong. */
const name = fc.oneof(
  fc.string(),
  fc.stringMatching(/^(from|to)_(profile|account)?_?(id)?$/),
  fc.nat().map(String),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('any'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('any'), { maxKeys: 5 }),
})).object as fc.Arbitrary<Json>;

function reversed(one: unknown): unknown {
  if (Array.isArray(one)) return one.map(reversed);
  if (one === null || typeof one !== 'object') return one;
  return Object.fromEntries(
    Object.entries(one)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

describe('the canonical text of a value', () => {
  it('has the content of the value, independent of the order of its fields', () => {
    fc.assert(
      fc.property(value, (content) => {
        const text = canonicalText(content);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(content)));
        expect(canonicalText(reversed(content))).toBe(text);
        expect(canonicalText(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is sorted at every level, and leaves absent fields out', () => {
    const text = '{"a":"1","b":{"c":"2","d":[{"e":"3","f":"4"}]}}';
    expect(canonicalText({ b: { d: [{ f: '4', e: '3' }], c: '2' }, z: undefined, a: '1' })).toBe(text);
    expect(canonicalText({ a: '1', b: { c: '2', d: [{ e: '3', f: '4' }] }, z: undefined })).toBe(text);
    // Only the innermost object is out of order.
    expect(canonicalText({ a: '1', b: { c: '2', d: [{ f: '4', e: '3' }] } })).toBe(text);
  });
});
