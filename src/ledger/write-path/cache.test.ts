import { describe, expect, it } from 'vitest';
import { createCache, createLru, createRecent } from './cache.ts';

describe('a cache', () => {
  it('keeps entries that are used, and never more than its maximum', () => {
    const cache = createLru<number>(10);
    cache.set('hot', 0);
    for (let index = 1; index <= 1_000; index += 1) {
      cache.set(`cold ${index}`, index);
      expect(cache.get('hot')).toBe(0);
    }
    const kept = Array.from({ length: 1_000 }, (_, index) => cache.get(`cold ${index + 1}`));
    expect(kept.filter((value) => value !== undefined).length).toBeLessThanOrEqual(10);
    expect(cache.get('cold 1')).toBeUndefined();
  });

  it('deletes entries of both generations', () => {
    const cache = createLru<number>(4);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    for (const key of ['a', 'b', 'c']) cache.delete(key);
    for (const key of ['a', 'b', 'c']) expect(cache.get(key)).toBeUndefined();
  });
});

it('recent texts are found until newer ones overwrite them', () => {
  const recent = createRecent(1_009);
  expect(recent.has('one')).toBe(false);
  recent.add('one');
  expect(recent.has('one')).toBe(true);
  for (let index = 0; index < 20_000; index += 1) recent.add(`other ${index}`);
  expect(recent.has('one')).toBe(false);
  expect(recent.has('other 19999')).toBe(true);
});

describe('the cache of a node', () => {
  const row = () => ({ profileId: 'p', asset: 'USD', available: 1n, held: 0n, movedAtNs: 1n, flight: 7 });

  it('excludes balances that a batch has suspended, until every such batch has resumed them', () => {
    const cache = createCache();
    const keys = [{ profileId: 'p', asset: 'USD' }];
    cache.learnBalances([row()]);
    expect(cache.suspend(keys)).toBe(7);
    expect(cache.suspend(keys)).toBe(0);
    cache.resume(keys);
    cache.learnBalances([row()]);
    expect(cache.balance('p', 'USD')).toBeUndefined();
    cache.resume(keys);
    cache.learnBalances([row()]);
    expect(cache.balance('p', 'USD')).toMatchObject({ available: 1n });
  });

  it('has the time of the answer with the least delay, and after a second that of a clock that was set back', () => {
    let counter = 0n;
    const cache = createCache(() => counter);
    expect(cache.now()).toBeUndefined();
    cache.learnTime(1_000n, 100n);
    cache.learnTime(1_000n, 90n);
    cache.learnTime(1_000n, 200n);
    counter = 300n;
    expect(cache.now()).toBe(1_210n);
    cache.learnTime(500n, 2_000_000_000n);
    counter = 2_000_000_010n;
    expect(cache.now()).toBe(510n);
  });
});
