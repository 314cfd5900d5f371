// What is compared: each side with each load that it is put under.
import { type Figures, median } from '../figures.ts';
import type { Measurement } from './measure.ts';
import { WORKLOADS, type Workload } from './plans.ts';

export type Extent = {
  readonly connections: readonly number[];
  readonly clients: readonly number[];
  readonly surveyRounds: number;
  readonly decidingRounds: number;
};
export const FULL: Extent = {
  connections: [1, 16, 64, 256, 512],
  clients: [8, 16, 32, 64],
  surveyRounds: 2,
  decidingRounds: 3,
};
/** To see whether everything works. */
export const QUICK: Extent = { connections: [1, 256], clients: [16], surveyRounds: 1, decidingRounds: 1 };

export type FerryVariant = {
  readonly side: 'ferry';
  readonly workload: Workload;
  /** Connections at once. */
  readonly concurrency: number;
  readonly rounds: Measurement[];
};
export type NaiveFigures = Figures & { readonly total: number };
export type NaiveVariant = {
  readonly side: 'naive';
  readonly workload: Exclude<Workload, 'hot destination'>;
  /** Clients at once. */
  readonly concurrency: number;
  readonly rounds: NaiveFigures[];
};
export type Variant = FerryVariant | NaiveVariant;

export function rateOf({ rounds }: Variant): number {
  return median(rounds.map(({ perSecond }) => perSecond));
}

/** At whatever number of connections or clients suits it best. */
export function bestOf<V extends Variant>(variants: readonly V[], workload: Workload): V {
  const [best] = variants
    .filter((variant) => variant.workload === workload)
    .toSorted((a, b) => rateOf(b) - rateOf(a));
  return best!;
}

/** The three workloads at the number of connections that is best for spread transfers. */
export function atBestConnections(ferry: readonly FerryVariant[]) {
  const { concurrency } = bestOf(ferry, 'spread');
  const of = (workload: Workload): FerryVariant =>
    ferry.find((variant) => variant.workload === workload && variant.concurrency === concurrency)!;
  return { spread: of('spread'), hotSource: of('hot source'), hotDestination: of('hot destination') };
}

/**
 * A workload against spread transfers: the median over pairs of rounds that were measured next to each other, at the two
 * numbers of connections that are best for spread ones. Between rounds the machine changes its pace; and the single best
 * number was chosen for what spread transfers did there, partly by chance.
 */
export function againstSpread(ferry: readonly FerryVariant[], workload: Workload): number {
  const best = ferry
    .filter((variant) => variant.workload === 'spread')
    .toSorted((a, b) => rateOf(b) - rateOf(a))
    .slice(0, 2);
  const pairs = best.flatMap((spread) => {
    const { concurrency } = spread;
    const other = ferry.find((one) => one.workload === workload && one.concurrency === concurrency)!;
    return spread.rounds.map(({ perSecond }, index) => other.rounds[index]!.perSecond / perSecond);
  });
  return median(pairs);
}

/** The three workloads stand next to each other, since they are compared with each other; between them the other side. */
export function surveyOf({ connections, clients }: Extent): Variant[] {
  const variants: Variant[] = [];
  for (let index = 0; index < Math.max(connections.length, clients.length); index += 1) {
    const [ferry, naive] = [connections[index], clients[index]];
    for (const workload of WORKLOADS) {
      if (ferry !== undefined) variants.push({ side: 'ferry', workload, concurrency: ferry, rounds: [] });
    }
    for (const workload of ['spread', 'hot source'] as const) {
      if (naive !== undefined) variants.push({ side: 'naive', workload, concurrency: naive, rounds: [] });
    }
  }
  return variants;
}
