import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMinable, marketFees, max, replacementFees } from './fees.ts';

const GWEI = 10n ** 9n;
const bounds = { maxFeeMax: 200n * GWEI, tipMin: GWEI / 10n, tipMax: 5n * GWEI };

describe('fees of EIP-1559', () => {
  it('offer twice the base fee and the tip, within the bounds', () => {
    expect(marketFees(30n * GWEI, GWEI, bounds)).toEqual({ maxFee: 61n * GWEI, tip: GWEI });
    expect(marketFees(30n * GWEI, 0n, bounds)!.tip).toBe(bounds.tipMin);
    expect(marketFees(30n * GWEI, 50n * GWEI, bounds)!.tip).toBe(bounds.tipMax);
    expect(marketFees(150n * GWEI, GWEI, bounds)!.maxFee).toBe(bounds.maxFeeMax);
  });

  it('are not offered if blocks would not take them at the bound', () => {
    expect(marketFees(200n * GWEI, GWEI, bounds)).toBeUndefined();
  });

  it('of a replacement are both at least an eighth higher, never above the bound, and never a tip above the whole', () => {
    const fee = fc.bigInt({ min: 1n, max: 300n * GWEI });
    fc.assert(
      fc.property(fee, fee, fee, fee, (maxFee, tip, base, suggested) => {
        const last = { maxFee: max(maxFee, tip), tip };
        const next = replacementFees(last, marketFees(base, suggested, bounds), bounds);
        if (next === undefined) return;
        expect(next.maxFee * 8n).toBeGreaterThanOrEqual(last.maxFee * 9n);
        expect(next.tip * 8n).toBeGreaterThanOrEqual(last.tip * 9n);
        expect(next.maxFee).toBeLessThanOrEqual(bounds.maxFeeMax);
        expect(next.tip).toBeLessThanOrEqual(next.maxFee);
      }),
    );
  });

  it('are good enough only if they cover the base fee of the next block', () => {
    const market = marketFees(80n, 0n, { maxFeeMax: 1_000n, tipMin: 1n, tipMax: 1n });
    expect(isMinable({ maxFee: 91n, tip: 1n }, 80n, market)).toBe(true);
    expect(isMinable({ maxFee: 90n, tip: 1n }, 80n, market)).toBe(false);
  });
});
