import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ID_PATTERN, isId } from './id.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PER_MS = 4_096;
const NOW = Date.parse('2026-03-01T12:00:00Z');

// The module keeps the time of its last id, so each test loads its own copy; and the clock moves only when a test sets it.
let newId: () => string;
let copies = 0;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  copies += 1;
  ({ newId } = (await import(`./id.ts?copy=${copies}`)) as typeof import('./id.ts'));
});
afterEach(() => {
  vi.useRealTimers();
});

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
const take = (count: number): string[] => Array.from({ length: count }, () => newId());

/** The first pair of neighbours that is not in ascending order. */
function firstDisorder(ids: readonly string[]): string | undefined {
  const index = ids.findIndex((id, at) => at > 0 && id <= ids[at - 1]!);
  return index < 0 ? undefined : `${ids[index - 1]} then ${ids[index]}`;
}

describe('a new id', () => {
  it('is a UUIDv7 of the current time: version 7, variant 10, lower case', () => {
    const ids = take(2_000);
    expect(ids.filter((id) => !V7.test(id) || !isId(id))).toEqual([]);
    expect(timeOf(ids[0]!)).toBe(NOW);
  });

  it('is greater than all ids before it and unique, over 100,000 ids on the real clock', () => {
    vi.useRealTimers();
    const ids = take(100_000);
    expect(firstDisorder(ids)).toBeUndefined();
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('ends in random bits that no two ids share', () => {
    const ends = take(20_000).map((id) => id.slice(19));
    expect(new Set(ends).size).toBe(ends.length);
    // Each of the 62 random bits is set about half of the time.
    const bits = ends.map((end) => BigInt(`0x${end.replace('-', '')}`));
    for (let bit = 0n; bit < 62n; bit += 1n) {
      const share = bits.filter((value) => ((value >> bit) & 1n) === 1n).length / bits.length;
      expect(share).toBeGreaterThan(0.45);
      expect(share).toBeLessThan(0.55);
    }
  });
});

describe('ids stay in order and unique when the clock', () => {
  it('goes back', () => {
    const ids = take(10);
    for (const backMs of [1, 1_000, 3_000_000]) {
      vi.setSystemTime(NOW - backMs);
      ids.push(...take(5_000));
    }
    expect(firstDisorder(ids)).toBeUndefined();
    // Time is borrowed only when the counter is used up: 4,096 ids a millisecond.
    expect(timeOf(ids.at(-1)!) - NOW).toBeLessThanOrEqual(Math.ceil(ids.length / PER_MS));
    expect(ids.filter((id) => !V7.test(id))).toEqual([]);
  });

  it('stands still: 100,000 ids in one millisecond borrow 25', () => {
    const ids = take(100_000);
    expect(firstDisorder(ids)).toBeUndefined();
    expect(timeOf(ids.at(-1)!) - NOW).toBeLessThanOrEqual(Math.ceil(ids.length / PER_MS));
  });

  it('returns to the right time after going back', () => {
    const [first] = take(1);
    vi.setSystemTime(NOW - 60_000);
    take(10);
    vi.setSystemTime(NOW + 5);
    const [last] = take(1);
    expect(timeOf(first!)).toBe(NOW);
    expect(timeOf(last!)).toBe(NOW + 5);
  });

  it('jumps ahead', () => {
    const ids = take(3);
    vi.setSystemTime(NOW + 60_000);
    ids.push(...take(3));
    expect(firstDisorder(ids)).toBeUndefined();
    expect(timeOf(ids[3]!)).toBe(NOW + 60_000);
  });
});

describe('isId', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';

  it('accepts every UUID in lower case, whatever its version', () => {
    fc.assert(fc.property(fc.uuid(), (uuid) => isId(uuid)));
    expect(isId(id)).toBe(true);
    expect(isId('00000000-0000-0000-0000-000000000000')).toBe(true);
  });

  it.each([
    [id.toUpperCase()],
    [id.replaceAll('-', '')],
    [`{${id}}`],
    [`urn:uuid:${id}`],
    [` ${id}`],
    [`${id}\n`],
    [`${id}0`],
    [id.slice(1)],
    [id.replace('a', 'g')],
    [''],
    [null],
    [undefined],
    [1],
    [[id]],
    [{ toString: () => id }],
  ])('rejects %j', (value) => {
    expect(isId(value)).toBe(false);
  });

  it('agrees with the pattern for JSON schemas', () => {
    const pattern = new RegExp(ID_PATTERN, 'u');
    expect(pattern.test(id)).toBe(true);
    expect(pattern.test(`${id}\n`)).toBe(false);
  });
});
