import { expect, it } from 'vitest';
import { slowStretches } from '../../bench/http/pace.ts';

/** A sample every 5 ms that takes 20 µs, but for those that are said to take longer. */
function samplesWith(slow: Readonly<Record<number, number>>): { at: number; tookUs: number }[] {
  return Array.from({ length: 200 }, (_, index) => ({ at: index * 5, tookUs: slow[index * 5] ?? 20 }));
}

it('a machine that keeps its pace was never slow', () => {
  expect(slowStretches(samplesWith({ 100: 39 }))).toEqual([]);
  expect(slowStretches([])).toEqual([]);
});

it('is slow from the last good moment before to the first one after', () => {
  expect(slowStretches(samplesWith({ 100: 220, 105: 80, 110: 40 }))).toEqual([[95, 115]]);
  expect(slowStretches(samplesWith({ 0: 220, 995: 220 }))).toEqual([
    [0, 5],
    [990, 995],
  ]);
});

it('what is slow again soon, still is', () => {
  expect(slowStretches(samplesWith({ 100: 220, 200: 220, 400: 220 }))).toEqual([
    [95, 205],
    [395, 405],
  ]);
});
