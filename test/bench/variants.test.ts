import { expect, it } from 'vitest';
import { againstSpread, type FerryVariant } from '../../bench/http/variants.ts';

function variant(workload: FerryVariant['workload'], concurrency: number, rates: number[]): FerryVariant {
  const rounds = rates.map((perSecond) => ({ perSecond }) as FerryVariant['rounds'][number]);
  return { side: 'ferry', workload, concurrency, rounds };
}

it('a hot workload is compared with the fastest variant of spread transfers round by round', () => {
  const ferry = [
    variant('spread', 16, [10, 10]),
    variant('hot source', 16, [1, 1]),
    // The machine was twice as fast in the second round, for both.
    variant('spread', 256, [100, 200]),
    variant('hot source', 256, [90, 180]),
    variant('spread', 512, [100, 210, 100]),
    variant('hot source', 512, [120, 210, 80]),
  ];
  expect(againstSpread(ferry, 'hot source')).toBe(0.9);
});
