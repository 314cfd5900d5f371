import { LIMITS } from '../limits.ts';
import type { Wallet } from '../rails/treasury.ts';

/** What operators have to know about wallets. Pure. */

export const ALARM_REASONS = [
  'below-low-mark',
  'above-high-mark',
  'difference',
  'out-of-gas',
  'not-observed',
  'stopped',
] as const;
export type AlarmReason = (typeof ALARM_REASONS)[number];

export type Alarm = {
  readonly rail: string;
  readonly asset?: string;
  readonly reason: AlarmReason;
  readonly detail: string;
};

export type Level = 'BELOW_LOW' | 'BETWEEN' | 'ABOVE_HIGH' | 'UNMARKED';

/** Which side of its marks the hot wallet is on. What waits at deposit addresses cannot be paid out. */
export function levelOf({ hotUnits, lowMarkUnits: low, highMarkUnits: high }: Wallet): Level {
  if (low !== undefined && hotUnits < low) return 'BELOW_LOW';
  if (high !== undefined && hotUnits > high) return 'ABOVE_HIGH';
  return low === undefined && high === undefined ? 'UNMARKED' : 'BETWEEN';
}

type Named = { readonly rail: string; format(asset: string, units: bigint): string };

const minutes = (ms: number): string => `${Math.floor(ms / 60_000)} min`;

export function alarmsOf(wallet: Wallet, { rail, format }: Named): Alarm[] {
  const { asset, hotUnits, lowMarkUnits, highMarkUnits, differenceUnits, differsMs, gasPayments, ageMs } =
    wallet;
  const level = levelOf(wallet);
  const found: [boolean, AlarmReason, () => string][] = [
    [
      level === 'BELOW_LOW',
      'below-low-mark',
      () =>
        `The hot wallet has ${format(asset, hotUnits)} ${asset}, the low mark is ${format(asset, lowMarkUnits!)}.`,
    ],
    [
      level === 'ABOVE_HIGH',
      'above-high-mark',
      () =>
        `The hot wallet has ${format(asset, hotUnits)} ${asset}, the high mark is ${format(asset, highMarkUnits!)}.`,
    ],
    [
      differsMs !== null && differsMs > LIMITS.treasuryDifferenceMs,
      'difference',
      () =>
        `The chain has ${format(asset, differenceUnits)} ${asset} more than the ledger, for ${minutes(differsMs!)}.`,
    ],
    [
      gasPayments !== null && gasPayments < LIMITS.treasuryGasPayments,
      'out-of-gas',
      () => `A lane can pay the fees of ${gasPayments} more payments.`,
    ],
    [
      ageMs > LIMITS.treasuryStaleMs,
      'not-observed',
      () => `The wallet was not looked at for ${minutes(ageMs)}.`,
    ],
  ];
  return found.flatMap(([holds, reason, detail]) =>
    holds ? [{ rail, asset, reason, detail: detail() }] : [],
  );
}

export const stopAlarm = (
  rail: string,
  stop: { readonly task: string; readonly code: string; readonly reason: string },
): Alarm => ({
  rail,
  reason: 'stopped',
  detail: `${stop.task} does not go on (${stop.code}): ${stop.reason}`,
});
