// What must be shown, and whether it is.
import { median } from '../figures.ts';
import type { Comparison } from './comparison.ts';
import type { Measurement } from './measure.ts';
import { againstSpread, atBestConnections, bestOf, rateOf } from './variants.ts';

/** Other programs read these names. */
export type Summary = {
  readonly spread_vs_naive: number;
  readonly hot_source_vs_spread: number;
  readonly hot_destination_vs_spread: number;
  readonly hot_source_vs_naive_hot: number;
  readonly bulk_vs_single: number;
  readonly cpu_us_per_transfer: number;
  readonly p99_ms_at_half_peak: number;
  readonly memory_mb: number;
};

export type Target = {
  readonly what: string;
  readonly value: number;
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
  readonly digits: number;
  readonly unit?: string;
};

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** `underLoad` are all measurements of the service. */
export function summarise(
  { ferry, naive, bulk, halfPeak }: Comparison,
  underLoad: readonly Measurement[],
): Summary {
  const { spread, hotSource } = atBestConnections(ferry);
  const peak = rateOf(spread);
  const cpu = spread.rounds.map(({ serviceCpuUs, serverCpuUs }) => serviceCpuUs + serverCpuUs);
  return {
    spread_vs_naive: round(peak / rateOf(bestOf(naive, 'spread')), 2),
    hot_source_vs_spread: round(againstSpread(ferry, 'hot source'), 2),
    hot_destination_vs_spread: round(againstSpread(ferry, 'hot destination'), 2),
    hot_source_vs_naive_hot: round(rateOf(hotSource) / rateOf(bestOf(naive, 'hot source')), 2),
    bulk_vs_single: round(
      median(bulk.map(({ measured, singlePerSecond }) => measured.perSecond / singlePerSecond)),
      2,
    ),
    cpu_us_per_transfer: round(median(cpu), 1),
    p99_ms_at_half_peak: round(median(halfPeak.rounds.map(({ p99Ms }) => p99Ms)), 1),
    memory_mb: round(Math.max(...underLoad.map(({ memoryMb }) => memoryMb)), 0),
  };
}

export function targetsOf(summary: Summary): Target[] {
  return [
    { what: 'spread ÷ naive SQL', value: summary.spread_vs_naive, bound: { atLeast: 3 }, digits: 2 },
    { what: 'hot source ÷ spread', value: summary.hot_source_vs_spread, bound: { atLeast: 0.95 }, digits: 2 },
    {
      what: 'hot destination ÷ spread',
      value: summary.hot_destination_vs_spread,
      bound: { atLeast: 0.95 },
      digits: 2,
    },
    {
      what: 'hot source ÷ naive SQL on one hot row',
      value: summary.hot_source_vs_naive_hot,
      bound: { atLeast: 8 },
      digits: 2,
    },
    {
      what: 'bulks of 100 ÷ one transfer per request',
      value: summary.bulk_vs_single,
      bound: { atLeast: 1.8 },
      digits: 2,
    },
    {
      what: 'processor time per transfer, service and PostgreSQL',
      value: summary.cpu_us_per_transfer,
      bound: { atMost: 150 },
      digits: 1,
      unit: 'µs',
    },
    {
      what: 'p99 at half of the peak rate',
      value: summary.p99_ms_at_half_peak,
      bound: { atMost: 25 },
      digits: 1,
      unit: 'ms',
    },
    {
      what: 'memory of the service under load',
      value: summary.memory_mb,
      bound: { atMost: 300 },
      digits: 0,
      unit: 'MB',
    },
  ];
}

/** A figure that could not be had, NaN, has not been reached either. */
function holds({ value, bound }: Target): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

/** One line for each; true when all hold. */
export function judge(targets: readonly Target[]): boolean {
  for (const target of targets) {
    const { what, value, bound, digits, unit } = target;
    const limit = 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
    const shown = `${value.toFixed(digits)}${unit === undefined ? '' : ` ${unit}`}`;
    console.log(`${holds(target) ? 'ok    ' : 'MISSED'}  ${what}: ${shown} (${limit})`);
  }
  return targets.every(holds);
}
