import { expect, it } from 'vitest';
import { backOffMs } from './back-off.ts';

it('a delay doubles with each failure until it reaches the maximum, and stays there', () => {
  const delays = [1, 2, 3, 4, 5, 100_000].map((failures) => backOffMs({ firstMs: 10, maxMs: 100 }, failures));
  expect(delays).toEqual([10, 20, 40, 80, 100, 100]);
});
