import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DECIMALS_MAX, formatAmount, INTEGER_DIGITS_MAX, parseAmount, UNITS_MAX } from './amount.ts';

const decimals = fc.integer({ min: 0, max: DECIMALS_MAX });
/** The largest amount that the API accepts for an asset with that many decimals, in units. */
const unitsMax = (places: number): bigint => 10n ** BigInt(INTEGER_DIGITS_MAX + places) - 1n;
/** Small and large numbers: nearly all uniformly distributed bigints would have 38 digits. */
const unitsUpTo = (max: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.bigInt({ min: 1n, max }),
    fc.bigInt({ min: 1n, max: 1_000n }),
    fc
      .tuple(fc.integer({ min: 0, max: max.toString().length - 1 }), fc.integer({ min: 1, max: 9 }))
      .map(([zeros, digit]) => BigInt(digit) * 10n ** BigInt(zeros)),
  );
const readable = decimals.chain((places) => fc.tuple(unitsUpTo(unitsMax(places)), fc.constant(places)));
const any = fc.tuple(unitsUpTo(UNITS_MAX), decimals);

function faultOf(text: unknown, places = 2): string {
  const parsed = parseAmount(text, places);
  return parsed.ok ? `accepted as ${parsed.units}` : parsed.fault;
}

describe('an amount', () => {
  it('survives a round trip through its text, for all units that have at most 20 digits before the point', () => {
    fc.assert(
      fc.property(readable, ([units, places]) => {
        expect(parseAmount(formatAmount(units, places), places)).toEqual({ ok: true, units });
      }),
      { numRuns: 2_000 },
    );
  });

  it('with 18 decimals covers exactly the range of a numeric(38,0)', () => {
    expect(UNITS_MAX).toBe(unitsMax(DECIMALS_MAX));
    const text = formatAmount(UNITS_MAX, DECIMALS_MAX);
    expect(text).toBe(`${'9'.repeat(20)}.${'9'.repeat(18)}`);
    expect(parseAmount(text, DECIMALS_MAX)).toEqual({ ok: true, units: UNITS_MAX });
    expect(faultOf(formatAmount(UNITS_MAX + 1n, DECIMALS_MAX), DECIMALS_MAX)).toBe('size');
  });

  it('too large for the API is formatted in full, and refused because of its size', () => {
    fc.assert(
      fc.property(any, ([units, places]) => {
        const expected = units <= unitsMax(places) ? `accepted as ${units}` : 'size';
        expect(faultOf(formatAmount(units, places), places)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is formatted in its shortest form: without trailing zeros, and at most one leading zero', () => {
    fc.assert(
      fc.property(any, ([units, places]) => {
        expect(formatAmount(units, places)).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/);
      }),
    );
  });

  it('may have leading and trailing zeros, which do not change its value', () => {
    const whole = fc.integer({ min: 1, max: 1_000_000 });
    const zeros = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 99 }), zeros, zeros, (integer, cents, before, after) => {
        const fraction = String(cents).padStart(2, '0') + '0'.repeat(after);
        const parsed = parseAmount(`${'0'.repeat(before)}${integer}.${fraction}`, 8);
        expect(parsed).toEqual({ ok: true, units: (BigInt(integer) * 100n + BigInt(cents)) * 1_000_000n });
      }),
    );
  });

  it.each([
    ['25', 2, 2_500n, '25'],
    ['0.5', 2, 50n, '0.5'],
    ['.5', 2, 50n, '0.5'],
    ['1.50', 2, 150n, '1.5'],
    ['0.01', 2, 1n, '0.01'],
    ['1', 0, 1n, '1'],
    ['007', 2, 700n, '7'],
    ['0.000000000000000001', 18, 1n, '0.000000000000000001'],
    ['9007199254740993', 0, 9_007_199_254_740_993n, '9007199254740993'],
    ['99999999999999999999', 2, 9_999_999_999_999_999_999_900n, '99999999999999999999'],
    ['99999999999999999999.99', 2, 9_999_999_999_999_999_999_999n, '99999999999999999999.99'],
  ])('%s with %i decimals is %i units and comes back as %s', (text, places, units, canonical) => {
    expect(parseAmount(text, places)).toEqual({ ok: true, units });
    expect(formatAmount(units, places)).toBe(canonical);
  });

  it.each([
    ['1e3'],
    ['1E3'],
    ['-1'],
    ['+1'],
    ['-0'],
    ['NaN'],
    ['Infinity'],
    ['0x10'],
    ['1n'],
    ['１'],
    ['٣'],
    [' 1'],
    ['1 '],
    ['1\n'],
    ['\t1'],
    ['1 000'],
    ['1,000'],
    ['1,5'],
    ['1_000'],
    ['$1'],
    ['1.2.3'],
    ['5.'],
    ['.'],
    [''],
    [' '],
    ['1\u200b'],
    ['1\u0000'],
    ['null'],
    ['1'.repeat(257)],
  ])('must not have the form %j', (text) => {
    expect(faultOf(text)).toBe('shape');
  });

  it.each([[null], [undefined], [1], [0.5], [Number.NaN], [1n], [true], [['1']], [{}], [new String('1')]])(
    'must be a string, not %o',
    (value) => {
      expect(faultOf(value)).toBe('shape');
    },
  );

  it.each([['0'], ['0.0'], ['0.00'], ['.0'], ['00'], ['0'.repeat(20)]])('must not be zero: %s', (text) => {
    expect(faultOf(text)).toBe('zero');
  });

  it.each([
    ['1.001', 2],
    ['1.000', 2],
    ['0.001', 2],
    ['.1', 0],
    ['1.0', 0],
    ['0.0000000000000000001', 18],
  ])('has no more decimals than its asset, not even zeros: %s with %i', (text, places) => {
    const { length } = text.split('.')[1]!;
    expect(parseAmount(text, places)).toEqual({
      ok: false,
      fault: 'precision',
      message: `has ${length} decimals, at most ${places} are allowed`,
    });
  });

  it('has at most 20 digits before the point, including leading zeros', () => {
    expect(faultOf('9'.repeat(20))).toMatch(/^accepted/);
    expect(faultOf('9'.repeat(21))).toBe('size');
    expect(faultOf(`0${'9'.repeat(20)}`)).toBe('size');
    expect(faultOf(`${'9'.repeat(21)}.001`)).toBe('size');
    expect(faultOf('1'.repeat(256))).toBe('size');
  });

  it('parsing never throws, whatever is sent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary' })), decimals, (value, places) => {
        const parsed = parseAmount(value, places);
        if (parsed.ok) expect(value).toMatch(/^[0-9]*(\.[0-9]+)?$/);
        else expect(parsed.message).toMatch(/^[a-z]/);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('formatAmount', () => {
  it('formats zero as 0, and negative amounts, which audits report, with a sign', () => {
    for (const places of [0, 2, 18]) expect(formatAmount(0n, places)).toBe('0');
    expect(formatAmount(-1n, 2)).toBe('-0.01');
    expect(formatAmount(-2_500n, 2)).toBe('-25');
    expect(formatAmount(-7n, 0)).toBe('-7');
  });
});
