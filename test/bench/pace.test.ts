import { expect, it } from 'vitest';
import { slowShare, slowStretches, steadyTimes } from '../../bench/http/pace.ts';

/** A sample every 5 ms that takes 20 µs, except for the given ones. */
function samplesWith(slow: Readonly<Record<number, number>>): { at: number; tookUs: number }[] {
  return Array.from({ length: 200 }, (_, index) => ({ at: index * 5, tookUs: slow[index * 5] ?? 20 }));
}

it('a machine with a steady pace was never slow', () => {
  expect(slowStretches(samplesWith({ 100: 39 }))).toEqual([]);
  expect(slowStretches([])).toEqual([]);
});

it('is slow from the last good sample before to the first one after', () => {
  expect(slowStretches(samplesWith({ 100: 220, 105: 80, 110: 40 }))).toEqual([[95, 115]]);
  expect(slowStretches(samplesWith({ 0: 220, 995: 220 }))).toEqual([
    [0, 5],
    [990, 995],
  ]);
});

it('two slow stretches in short succession are one', () => {
  expect(slowStretches(samplesWith({ 100: 220, 200: 220, 400: 220 }))).toEqual([
    [95, 205],
    [395, 405],
  ]);
});

it('leaves out requests that overlap a slow stretch or the queue after it, in any order of answers', () => {
  const slow = [[100, 120]] as const;
  const requests = [
    { due: 80, took: 19 },
    { due: 90, took: 15 },
    { due: 139, took: 1 },
    { due: 95, took: 46 },
    { due: 141, took: 2 },
  ];
  const timeline = { dueMs: requests.map(({ due }) => due), tookMs: requests.map(({ took }) => took) };
  expect(steadyTimes(timeline, slow)).toEqual([19, 2]);
  expect(steadyTimes(timeline, [])).toEqual([19, 15, 1, 46, 2]);
});

it('counts time in which two cores were slow once, and only within the measurement', () => {
  const slow = [
    [0, 110],
    [120, 140],
    [130, 135],
    [130, 150],
    [190, 300],
  ] as const;
  expect(slowShare(slow, [100, 200])).toBeCloseTo(0.5);
  expect(slowShare([], [100, 200])).toBe(0);
});
