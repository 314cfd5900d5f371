import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, type Instant, NS_PER_MS, parseInstant } from '../kernel/instant.ts';
import { type Hours, isOpen, isTimeZone, nextOpening } from './hours.ts';
import { DAYS } from './schema.ts';

const at = (text: string): Instant => parseInstant(text)!;
const OFFICE: Hours = {
  time_zone: 'America/New_York',
  days: ['MON', 'TUE', 'WED', 'THU', 'FRI'],
  from: '09:00',
  to: '17:00',
};

describe('business hours', () => {
  it.each([
    ['2026-11-16T13:59:59.999Z', false],
    ['2026-11-16T14:00:00Z', true],
    ['2026-11-16T21:59:59Z', true],
    ['2026-11-16T22:00:00Z', false],
    ['2026-11-15T15:00:00Z', false],
    // In summer the zone is an hour closer to UTC.
    ['2026-07-01T13:00:00Z', true],
    ['2026-07-01T21:00:00Z', false],
  ])('are those of their time zone: at %s they are open: %s', (time, open) => {
    expect(isOpen(OFFICE, at(time))).toBe(open);
  });

  it.each([
    ['2026-11-13T22:00:00Z', '2026-11-16T14:00:00Z'],
    ['2026-11-16T10:00:00Z', '2026-11-16T14:00:00Z'],
    // The clocks change on Sunday 1 November.
    ['2026-10-30T21:00:00Z', '2026-11-02T14:00:00Z'],
  ])('that are closed at %s open at %s', (time, opening) => {
    expect(formatInstant(nextOpening(OFFICE, at(time)))).toBe(opening);
  });

  it('open at the first minute that is open, whatever the hours, the zone and the time', () => {
    const minutes = fc.integer({ min: 0, max: 1_439 });
    const text = (minute: number): string =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    fc.assert(
      fc.property(
        fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'),
        fc.subarray([...DAYS], { minLength: 1 }),
        fc.tuple(minutes, minutes).filter(([one, other]) => one < other),
        fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }),
        (time_zone, days, [from, to], seconds) => {
          const hours: Hours = { time_zone, days, from: text(from), to: text(to) };
          const now = BigInt(seconds) * 1_000n * NS_PER_MS;
          if (isOpen(hours, now)) return;
          const opening = nextOpening(hours, now);
          const minute = 60_000n * NS_PER_MS;
          expect(opening > now && opening - now <= 8n * 1_441n * minute).toBe(true);
          expect(isOpen(hours, opening)).toBe(true);
          expect(opening - minute > now && isOpen(hours, opening - minute)).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('know which names are time zones', () => {
    expect(['UTC', 'Europe/Berlin', 'Mars', '', 'constructor'].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
