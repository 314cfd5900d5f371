import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ID_PATTERN, isId, newId } from './id.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
const take = (count: number): string[] => Array.from({ length: count }, newId);

/** The first place where an id is not greater than the one before it. */
function firstFall(ids: readonly string[]): string | undefined {
  const index = ids.findIndex((id, at) => at > 0 && id <= ids[at - 1]!);
  return index < 0 ? undefined : `${ids[index - 1]} then ${ids[index]}`;
}

describe('a new id', () => {
  it('is a UUIDv7 of now: version 7, variant 10, lower case', () => {
    const before = Date.now();
    const ids = take(2_000);
    const after = Date.now();
    expect(ids.filter((id) => !V7.test(id) || !isId(id))).toEqual([]);
    expect(timeOf(ids[0]!)).toBeGreaterThanOrEqual(before);
    expect(timeOf(ids[0]!)).toBeLessThanOrEqual(after);
  });

  it('is unique and greater than all before it, over 100,000 ids', () => {
    const ids = take(100_000);
    expect(firstFall(ids)).toBeUndefined();
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('stays close to the clock even if ids are created as fast as possible', () => {
    const ids = take(100_000);
    expect(Math.abs(timeOf(ids.at(-1)!) - Date.now())).toBeLessThan(1_000);
  });

  it('ends with random bits: no two ids share them', () => {
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

describe('a clock', () => {
  // Far enough ahead that no id of the tests above is later.
  const start = Date.now() + 3_600_000;
  let offset = 0;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    // Each test begins an hour later, because the module keeps the time of the last id.
    offset += 3_600_000;
    vi.setSystemTime(start + offset);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that goes back does not make ids go back or repeat', () => {
    const ids = take(10);
    for (const back of [1, 1_000, 3_000_000]) {
      vi.setSystemTime(start + offset - back);
      ids.push(...take(5_000));
    }
    expect(firstFall(ids)).toBeUndefined();
    // Time is borrowed only when the counter is used up: 4,096 ids a millisecond.
    expect(timeOf(ids.at(-1)!) - (start + offset)).toBeLessThanOrEqual(4);
    expect(ids.filter((id) => !V7.test(id))).toEqual([]);
  });

  it('that stands still does not stop ids from increasing', () => {
    const ids = take(20_000);
    expect(firstFall(ids)).toBeUndefined();
    expect(timeOf(ids.at(-1)!) - timeOf(ids[0]!)).toBeLessThanOrEqual(5);
  });

  it('that catches up after it went back is used again', () => {
    const [first] = take(1);
    vi.setSystemTime(start + offset - 60_000);
    take(10);
    vi.setSystemTime(start + offset + 5);
    const [last] = take(1);
    expect(timeOf(first!)).toBe(start + offset);
    expect(timeOf(last!)).toBe(start + offset + 5);
  });

  it('that jumps ahead makes ids jump ahead', () => {
    const ids = take(3);
    vi.setSystemTime(start + offset + 60_000);
    ids.push(...take(3));
    expect(firstFall(ids)).toBeUndefined();
    expect(timeOf(ids[3]!)).toBe(start + offset + 60_000);
  });
});

describe('isId', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';

  it('accepts every UUID in lower case, of any version', () => {
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
