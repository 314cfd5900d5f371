/** Fees of EIP-1559, in wei per gas. Pure. */

export type Fees = { readonly maxFee: bigint; readonly tip: bigint };

export type FeeBounds = {
  /** The most that a transaction may offer per gas, tip included. */
  readonly maxFeeMax: bigint;
  readonly tipMin: bigint;
  readonly tipMax: bigint;
};

export function max(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}
function min(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

/** What a transaction has to offer now. The base fee can double within six blocks, so twice the present one is offered. */
export function marketFees(baseFee: bigint, suggestedTip: bigint, bounds: FeeBounds): Fees | undefined {
  const tip = max(bounds.tipMin, min(suggestedTip, bounds.tipMax));
  // At the bound it would wait in vain.
  if (baseFee + tip > bounds.maxFeeMax) return undefined;
  return { maxFee: min(2n * baseFee + tip, bounds.maxFeeMax), tip };
}

/** Nodes replace a transaction if both of its fees grow by at least 10 %; some ask for 12.5 %. Rounded up. */
const raised = (fee: bigint): bigint => (fee * 9n + 7n) / 8n;

/** The fees of a replacement; undefined if the bound does not allow one. */
export function replacementFees(last: Fees, market: Fees | undefined, bounds: FeeBounds): Fees | undefined {
  const tip = max(raised(last.tip), market?.tip ?? 0n);
  const maxFee = max(max(raised(last.maxFee), market?.maxFee ?? 0n), tip);
  return maxFee > bounds.maxFeeMax ? undefined : { maxFee, tip };
}

/** Whether blocks take the transaction at the present base fee, with an eighth to spare for the next block. */
export const isMinable = ({ maxFee, tip }: Fees, baseFee: bigint, market: Fees | undefined): boolean =>
  market !== undefined && tip >= market.tip && maxFee >= (baseFee * 9n) / 8n + market.tip;
