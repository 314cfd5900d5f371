import type { Chain } from './chain.ts';

/** Sizes in vbytes, fees and dust. Rates are units per 1,000 vbytes. */

const countSize = (count: number): bigint => (count < 0xfd ? 1n : 3n);

const INPUT_BYTES = 41n;
/** A signature of at most 72 bytes, a key of 33, and their lengths. */
const PROOF_BYTES = 107n;

export const outputSize = (script: Uint8Array): bigint =>
  8n + countSize(script.length) + BigInt(script.length);

/** The most that a transaction with these parts can have. */
export function sizeOf(chain: Chain, coins: number, scripts: readonly Uint8Array[]): bigint {
  const inputs = BigInt(coins);
  const outputs = scripts.reduce((sum, script) => sum + outputSize(script), 0n);
  const body = 8n + countSize(coins) + countSize(scripts.length) + inputs * INPUT_BYTES + outputs;
  if (!chain.hasSegwit) return body + inputs * PROOF_BYTES;
  // The mark of a witness is two bytes, and each witness begins with the number of its items.
  return (4n * body + 2n + inputs * (PROOF_BYTES + 1n) + 3n) / 4n;
}

/** `Math.max` and `Math.min` do not take money. */
export const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a);
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export const feeAt = (rate: bigint, size: bigint): bigint => (rate * size + 999n) / 1000n;

/** What it costs to spend one more coin. */
export function coinCost(chain: Chain, rate: bigint): bigint {
  const size = chain.hasSegwit ? INPUT_BYTES + (PROOF_BYTES + 1n + 3n) / 4n : INPUT_BYTES + PROOF_BYTES;
  return feeAt(rate, size);
}

/** The least that nodes relay in an output: what it costs to spend it at the network's own rate. */
export function dustLimit(chain: Chain, script: Uint8Array): bigint {
  const isWitness =
    chain.hasSegwit &&
    script.length >= 4 &&
    (script[0] === 0x00 || (script[0]! >= 0x51 && script[0]! <= 0x60));
  // A witness counts a quarter, rounded down: 32 + 4 + 1 + 107 / 4 + 4 bytes.
  const spending = isWitness ? 67n : 148n;
  return feeAt(chain.dustRate, outputSize(script) + spending);
}

/** Where the money of a transaction goes: what is left over is change, unless nobody would relay or want it. */
export type Split = { readonly feeUnits: bigint; readonly changeUnits: bigint; readonly size: bigint };

export type SplitOrder = {
  readonly chain: Chain;
  readonly coins: number;
  readonly inUnits: bigint;
  readonly payments: readonly { readonly script: Uint8Array; readonly units: bigint }[];
  readonly changeScript: Uint8Array;
  /** What the transaction must pay at least, for its size. */
  readonly feeFor: (size: bigint) => bigint;
};

/** Undefined if the coins do not suffice. */
export function split(order: SplitOrder): Split | undefined {
  const { chain, coins, inUnits, payments, changeScript, feeFor } = order;
  const scripts = payments.map(({ script }) => script);
  const leftUnits = payments.reduce((left, { units }) => left - units, inUnits);
  const withChange = sizeOf(chain, coins, [...scripts, changeScript]);
  const changeUnits = leftUnits - feeFor(withChange);
  if (changeUnits >= dustLimit(chain, changeScript))
    return { feeUnits: leftUnits - changeUnits, changeUnits, size: withChange };
  const size = sizeOf(chain, coins, scripts);
  // A transaction must have an output.
  if (payments.length === 0 || leftUnits < feeFor(size)) return undefined;
  return { feeUnits: leftUnits, changeUnits: 0n, size };
}
