import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatInstant,
  INSTANT_MAX,
  type Instant,
  NS_PER_SECOND,
  parseComparable,
  parseInstant,
  parseTime,
} from './instant.ts';

/** The whole range of the type: 1677 to 2262, before and after 1970. */
const instants = fc.oneof(
  fc.bigInt({ min: -INSTANT_MAX, max: INSTANT_MAX }),
  fc.bigInt({ min: -2_000_000_000n, max: 2_000_000_000n }),
  fc
    .bigInt({ min: -INSTANT_MAX / NS_PER_SECOND, max: INSTANT_MAX / NS_PER_SECOND })
    .map((seconds) => seconds * NS_PER_SECOND),
);

function instantOf(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`${text} was refused`);
  return instant;
}

describe('an instant', () => {
  it('survives a round trip through its text, to the nanosecond, over the whole range', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is formatted in UTC with at most nine fractional digits and no trailing zeros', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(formatInstant(instant)).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{0,8}[1-9])?Z$/);
      }),
      { numRuns: 3_000 },
    );
  });

  it('agrees with Date to the millisecond', () => {
    const min = Date.parse('1678-01-01T00:00:00Z');
    const max = Date.parse('2262-01-01T00:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min, max }), (ms) => {
        const instant = BigInt(ms) * 1_000_000n;
        expect(parseInstant(new Date(ms).toISOString())).toBe(instant);
        expect(Date.parse(formatInstant(instant))).toBe(ms);
      }),
      { numRuns: 2_000 },
    );
  });

  it('sorts the same as a number and as a text with nine fractional digits', () => {
    const padded = (instant: Instant): string =>
      formatInstant(instant).replace(/(?:\.(\d+))?Z$/, (_, digits = '') => `.${digits.padEnd(9, '0')}`);
    fc.assert(
      fc.property(instants, instants, (one, other) => {
        expect(padded(one) < padded(other)).toBe(one < other);
      }),
    );
  });

  it('is the same at any offset', () => {
    const hour = fc.integer({ min: 0, max: 23 });
    const minute = fc.integer({ min: 0, max: 59 });
    const inside = fc.bigInt({ min: -INSTANT_MAX / 2n, max: INSTANT_MAX / 2n });
    fc.assert(
      fc.property(inside, fc.constantFrom(1, -1), hour, minute, (instant, sign, hours, minutes) => {
        const offsetNs = BigInt(sign * (hours * 3600 + minutes * 60)) * NS_PER_SECOND;
        const clock = formatInstant(instant + offsetNs).slice(0, -1);
        const two = (value: number): string => String(value).padStart(2, '0');
        const text = `${clock}${sign < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
        expect(parseInstant(text)).toBe(instant);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01T00:00:00.000000001Z', 1n],
    ['1970-01-01T00:00:00.1Z', 100_000_000n],
    ['1970-01-01T00:00:00.100000000Z', 100_000_000n],
    ['1970-01-01t00:00:00z', 0n],
    ['1970-01-01T00:00:00+00:00', 0n],
    ['1970-01-01T00:00:00-00:00', 0n],
    ['1970-01-01T01:00:00+01:00', 0n],
    ['1969-12-31T23:30:00-00:30', 0n],
    ['1970-01-02T05:44:00+05:44', 86_400n * NS_PER_SECOND],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['1969-12-31T23:59:59.9Z', -100_000_000n],
    ['2262-04-11T23:47:16.854775807Z', INSTANT_MAX],
    ['1677-09-21T00:12:43.145224193Z', -INSTANT_MAX],
  ])('%s is %i', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
  });

  it.each([
    ['2026-03-01T10:00:00.000000000Z', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:00.120Z', '2026-03-01T10:00:00.12Z'],
    ['2026-03-01T10:00:00.000001000Z', '2026-03-01T10:00:00.000001Z'],
    ['2026-03-01T10:00:00.123456789Z', '2026-03-01T10:00:00.123456789Z'],
    ['2026-03-01T10:00:00.000000010Z', '2026-03-01T10:00:00.00000001Z'],
    ['2026-12-31T23:30:00.5-01:00', '2027-01-01T00:30:00.5Z'],
    ['2000-10-10T10:10:10+00:00', '2000-10-10T10:10:10Z'],
    ['1969-12-31T23:59:59.000000001Z', '1969-12-31T23:59:59.000000001Z'],
  ])('%s comes back as %s', (text, canonical) => {
    expect(formatInstant(instantOf(text))).toBe(canonical);
  });

  it('accepts leap days only in leap years', () => {
    for (const year of ['2024', '2000', '1972', '2096']) {
      expect(formatInstant(instantOf(`${year}-02-29T12:00:00Z`))).toBe(`${year}-02-29T12:00:00Z`);
    }
    for (const year of ['2023', '1900', '2100', '2200']) {
      expect(parseInstant(`${year}-02-29T12:00:00Z`)).toBeUndefined();
    }
  });

  it('accepts every day of a year, and no other', () => {
    const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = `2026-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`;
        const exists = day >= 1 && day <= (days[month - 1] ?? 0);
        expect([text, parseInstant(text) !== undefined]).toEqual([text, exists]);
      }
    }
  });

  it.each([
    ['hour 24', '2026-01-01T24:00:00Z'],
    ['minute 60', '2026-01-01T10:60:00Z'],
    ['second 61', '2016-12-31T23:59:61Z'],
    ['second 60 within a month', '2016-12-30T23:59:60Z'],
    ['second 60 within a day', '2016-12-31T12:59:60Z'],
    ['second 60 at midnight of another offset', '2016-12-31T23:59:60+01:00'],
    ['an offset of 24 hours', '2026-01-01T00:00:00+24:00'],
    ['an offset of 60 minutes', '2026-01-01T00:00:00+01:60'],
    ['ten digits', '2026-01-01T00:00:00.1234567890Z'],
    ['a point without digits', '2026-01-01T00:00:00.Z'],
    ['a comma', '2026-01-01T00:00:00,5Z'],
    ['no offset', '2026-01-01T00:00:00'],
    ['an offset without colon', '2026-01-01T00:00:00+0100'],
    ['an offset of hours only', '2026-01-01T00:00:00+01'],
    ['no seconds', '2026-01-01T00:00Z'],
    ['a date alone', '2026-01-01'],
    ['a blank in place of the T', '2026-01-01 00:00:00Z'],
    ['a blank in front', ' 2026-01-01T00:00:00Z'],
    ['a line feed at the end', '2026-01-01T00:00:00Z\n'],
    ['a year of five digits', '+12026-01-01T00:00:00Z'],
    ['a year of two digits', '26-01-01T00:00:00Z'],
    ['a week date', '2026-W01-1T00:00:00Z'],
    ['digits of another script', '２０２６-01-01T00:00:00Z'],
    ['a minus that is not ASCII', '2026-01-01T00:00:00−01:00'],
    ['nothing', ''],
    ['words', 'yesterday'],
    ['seconds since 1970', '1767225600'],
  ])('is not %s', (_title, text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it.each([
    [null],
    [undefined],
    [0],
    [1_767_225_600_000],
    [0n],
    [new Date()],
    [{}],
    [['2026-01-01T00:00:00Z']],
  ])('must be a string, not %o', (value) => {
    expect(parseInstant(value)).toBeUndefined();
  });

  it.each([
    ['one nanosecond later', '2262-04-11T23:47:16.854775808Z'],
    ['the last of an hour west of it', '2262-04-11T23:47:16.854775807-01:00'],
    ['as many nanoseconds before 1970, and one', '1677-09-21T00:12:43.145224192Z'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['the year 9999', '9999-12-31T23:59:59.999999999Z'],
  ])('is within 64 bits: not %s', (_title, text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it.each([
    ['0001-01-01T00:00:00Z', -62_135_596_800n * NS_PER_SECOND],
    ['0000-02-29T00:00:00Z', -62_162_121_600n * NS_PER_SECOND],
    ['0001-01-01T00:00:00.000000001+23:59', (-62_135_596_800n - 86_340n) * NS_PER_SECOND + 1n],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_800n * NS_PER_SECOND - 1n],
    ['9999-12-31t23:59:59.999999999-23:59', (253_402_300_800n + 86_340n) * NS_PER_SECOND - 1n],
    ['9999-12-31T23:59:60Z', 253_402_300_800n * NS_PER_SECOND],
  ])('of any year can be compared with: %s', (text, time) => {
    expect(parseTime(text)).toBe(time);
    expect(parseInstant(text)).toBeUndefined();
    expect(parseComparable(text)).toBe(time > 0n ? INSTANT_MAX : -INSTANT_MAX);
  });

  it.each([
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2016-12-31t23:59:60.25z', '2017-01-01T00:00:00.25Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00Z'],
    ['2017-01-01T05:29:60+05:30', '2017-01-01T00:00:00Z'],
    ['2016-02-29T23:59:60Z', '2016-03-01T00:00:00Z'],
  ])('can be a leap second, at the end of a month in UTC: %s is %s', (leap, next) => {
    expect(formatInstant(instantOf(leap))).toBe(next);
  });

  it('agrees with Date over all years', () => {
    const min = Date.parse('0001-01-01T00:00:00Z');
    const max = Date.parse('9999-12-31T23:59:59Z');
    fc.assert(
      fc.property(fc.integer({ min, max }), (ms) => {
        expect(parseTime(new Date(ms).toISOString())).toBe(BigInt(ms) * 1_000_000n);
      }),
      { numRuns: 2_000 },
    );
  });

  it('parsing never throws, whatever is sent', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'0123456789-:.TZ+'.split('')), maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), nearly), (value) => {
        expect(['bigint', 'undefined']).toContain(typeof parseInstant(value));
      }),
      { numRuns: 1_000 },
    );
  });
});
