import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVault, newDataKey } from '../sealing/vault.ts';
import type { IdempotencyKey } from './command.ts';
import { requestDigests } from './digests.ts';

const vault = createVault([{ id: 1, key: newDataKey() }]);
const digests = requestDigests(vault);

function keyOf(request: IdempotencyKey['request'], refId = 'r'): IdempotencyKey {
  return { customerId: 'c', space: 's', refId, resourceId: 'x', request };
}

const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const value = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
  fc.dictionary(name, fc.string(), { maxKeys: 3 }),
  fc.array(fc.string(), { maxLength: 3 }),
);
const request = fc.dictionary(name, value, { maxKeys: 6 });

describe('the digests of a request', () => {
  it('name exactly the fields in which another request differs, whatever their values and their order', () => {
    fc.assert(
      fc.property(request, request, (one, other) => {
        const stored = digests.of(keyOf(one));
        const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
        const isSame = (field: string): boolean =>
          Object.hasOwn(one, field) === Object.hasOwn(other, field) &&
          JSON.stringify(sortedKeys(one[field])) === JSON.stringify(sortedKeys(other[field]));
        const expected = names.filter((field) => !isSame(field)).sort();
        expect(digests.differing(stored, keyOf(other))).toEqual(expected);
        const reversed = Object.fromEntries(Object.entries(one).reverse());
        expect(digests.differing(stored, keyOf(reversed))).toEqual([]);
        // The form of earlier releases: the request itself.
        expect(digests.differing(JSON.stringify(one), keyOf(other))).toEqual(expected);
        expect(digests.ofStored(JSON.stringify(one), keyOf({}))).toBe(stored);
        expect(digests.ofStored(stored, keyOf({}))).toBe(stored);
      }),
      { numRuns: 1_000 },
    );
  });

  it('contain no value, and nothing that two requests or two fields with the same value share', () => {
    const digestsIn = (text: string): string[] => [...text.matchAll(/=([^;]+);/g)].map((match) => match[1]!);
    const fields = { account: '000987123465', number: '000987123465', owner: { name: 'Quillfeather' } };
    const [one, other] = [digests.of(keyOf(fields, 'r1')), digests.of(keyOf(fields, 'r2'))];
    expect(one).toMatch(/^2:account=[\w-]{16};number=[\w-]{16};owner=[\w-]{16};$/);
    expect(new Set([...digestsIn(one), ...digestsIn(other)]).size).toBe(6);
    const elsewhere = requestDigests(createVault([{ id: 1, key: newDataKey() }]));
    expect(elsewhere.of(keyOf(fields, 'r1'))).not.toBe(one);
  });

  it('of earlier releases are still those of the same request, and name what differs', () => {
    const older = requestDigests(createVault([{ id: 1, key: Buffer.alloc(32, 7) }]));
    const fields = { amount: '1.50', asset: 'USD', metadata: { order: '7' } };
    const stored = 'amount=FUQ1tmfR1xuYMKlm;asset=Te9g4_Ke1j9uX1qT;metadata=dyUXUPj6NxgEiNjD;';
    expect(older.differing(stored, keyOf(fields))).toEqual([]);
    expect(older.differing(stored, keyOf({ ...fields, amount: '1.51', memo: 'm' }))).toEqual([
      'amount',
      'memo',
    ]);
    expect(older.ofStored(stored, keyOf(fields))).toBe(stored);
  });

  it('leave out absent fields, and the ref_id, which is the key itself', () => {
    const whole = { amount: '1', asset: 'USD' };
    expect(digests.of(keyOf({ ...whole, memo: undefined, ref_id: 'r' }))).toBe(digests.of(keyOf(whole)));
  });

  it('tell a number from a text, and an absent field from an empty one', () => {
    expect(digests.differing(digests.of(keyOf({ n: 1 })), keyOf({ n: '1' }))).toEqual(['n']);
    expect(digests.differing(digests.of(keyOf({})), keyOf({ n: '' }))).toEqual(['n']);
    expect(digests.differing(digests.of(keyOf({ n: null })), keyOf({ n: 'null' }))).toEqual(['n']);
  });
});

function sortedKeys(one: unknown): unknown {
  if (one === null || typeof one !== 'object' || Array.isArray(one)) return one;
  return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
}
