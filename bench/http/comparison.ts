/**
 * Transfers of the service beside the same rows written with one transaction each, in rounds whose order turns round.
 * First every number of connections and clients, then more rounds of those that turned out best, so that the ratios
 * rest on more than the survey that chose them.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { sandboxOf } from '../../test/support/process.ts';
import { integer, MEASURED_SECONDS, PROFILES, WARM_UP_SECONDS } from '../figures.ts';
import { runPgbench } from '../pgbench.ts';
import type { LoadJob } from './job.ts';
import type { Load, Measurement } from './measure.ts';
import { bulkPlan, transferPlan, type Workload } from './plans.ts';
import { NAIVE, PROFILE_IDS, type Service, type Stage } from './stage.ts';
import {
  atBestConnections,
  bestOf,
  type Extent,
  type FerryVariant,
  type NaiveFigures,
  type NaiveVariant,
  rateOf,
  surveyOf,
  type Variant,
} from './variants.ts';

const SCRIPT = fileURLToPath(new URL('../naive-transfer.sql', import.meta.url));
/** Enough for transfers that arrive whatever the service does: at 5,000 a second each may take 50 ms. */
const CONNECTIONS_AT_RATE = 256;
/** Transfers of one request, and connections that send such requests: enough that the database always has the next batch. */
export const BULK = { size: 100, connections: 6 };
export const TIMES = { warmUpMs: WARM_UP_SECONDS * 1_000, measureMs: MEASURED_SECONDS * 1_000 };

export type Comparison = {
  readonly ferry: readonly FerryVariant[];
  readonly naive: readonly NaiveVariant[];
  /** Bulks, and the rate of one transfer per request that was measured directly before. */
  readonly bulk: readonly { readonly measured: Measurement; readonly singlePerSecond: number }[];
  readonly halfPeak: { readonly ratePerSecond: number; readonly rounds: readonly Measurement[] };
  /** Acknowledged, all runs together. */
  readonly totals: { readonly ferry: number; readonly naive: number };
};

type Sides = {
  ferry(workload: Workload, job: Pick<LoadJob, 'connections' | 'ratePerSecond'>): Promise<Measurement>;
  bulk(): Promise<Measurement>;
  naive(workload: Workload, clients: number): Promise<NaiveFigures>;
  readonly totals: Comparison['totals'];
};

function sidesOn(stage: Stage, service: Service, load: Load, program: string): Sides {
  const { socketDir, port, user, pid: postmasterPid } = stage.server;
  const threads = availableParallelism();
  const target = { program, socketDir, port, user, database: NAIVE, postmasterPid, threads };
  const customer = sandboxOf(stage.directory).customers[0]!.customer_id;
  const totals = { ferry: 0, naive: 0 };
  return {
    totals,
    async ferry(workload, job) {
      const plan = transferPlan(workload, PROFILE_IDS, service.token);
      const measured = await load.run(service, { ...job, ...TIMES, plan });
      totals.ferry += measured.total;
      return measured;
    },
    async bulk() {
      const plan = bulkPlan(PROFILE_IDS, service.token, BULK.size);
      const measured = await load.run(service, { connections: BULK.connections, ...TIMES, plan });
      totals.ferry += measured.total;
      return measured;
    },
    async naive(workload, clients) {
      const variables = { customer, profiles: PROFILES, debtors: workload === 'spread' ? PROFILES : 1 };
      const measured = await runPgbench(target, { path: SCRIPT, variables }, clients);
      totals.naive += measured.total;
      return measured;
    },
  };
}

async function runOne(sides: Sides, variant: Variant, label: string): Promise<void> {
  const { side, workload, concurrency } = variant;
  if (side === 'ferry') variant.rounds.push(await sides.ferry(workload, { connections: concurrency }));
  else variant.rounds.push(await sides.naive(workload, concurrency));
  const who = side === 'ferry' ? 'Ferry' : 'naive SQL';
  const many = `${concurrency} ${side === 'ferry' ? 'connections' : 'clients'}`;
  const { perSecond } = variant.rounds.at(-1)!;
  console.log(`${label}: ${who}, ${workload}, ${many}: ${integer(perSecond)} transfers/s`);
}

export async function compare(
  stage: Stage,
  service: Service,
  load: Load,
  program: string,
  extent: Extent,
): Promise<Comparison> {
  const sides = sidesOn(stage, service, load, program);
  const survey = surveyOf(extent);
  const ferry = survey.filter((variant) => variant.side === 'ferry');
  const naive = survey.filter((variant) => variant.side === 'naive');
  const halfPeak: Measurement[] = [];
  const bulk: Comparison['bulk'][number][] = [];

  for (const variant of [ferry.at(-1)!, naive.at(-1)!])
    await runOne(sides, { ...variant, rounds: [] }, 'warm-up');
  for (let round = 1; round <= extent.surveyRounds; round += 1) {
    const order = round % 2 === 1 ? survey : survey.toReversed();
    for (const variant of order) await runOne(sides, variant, `round ${round}`);
  }

  const ratePerSecond = Math.round(rateOf(bestOf(ferry, 'spread')) / 2);
  for (let extra = 1; extra <= extent.decidingRounds; extra += 1) {
    const label = `round ${extent.surveyRounds + extra}`;
    // Chosen anew each time: one that was best by chance is measured again, and falls back.
    const { spread, hotSource, hotDestination } = atBestConnections(ferry);
    const deciding = [
      spread,
      bestOf(naive, 'spread'),
      hotSource,
      bestOf(naive, 'hot source'),
      hotDestination,
    ];
    const order = extra % 2 === 1 ? deciding : deciding.toReversed();
    for (const variant of order) {
      await runOne(sides, variant, label);
      if (variant !== spread) continue;
      const measured = await sides.bulk();
      bulk.push({ measured, singlePerSecond: spread.rounds.at(-1)!.perSecond });
      console.log(`${label}: Ferry, bulks of ${BULK.size}: ${integer(measured.perSecond)} transfers/s`);
    }
    const measured = await sides.ferry('spread', { connections: CONNECTIONS_AT_RATE, ratePerSecond });
    halfPeak.push(measured);
    const arriving = `${integer(ratePerSecond)} transfers/s arriving`;
    console.log(`${label}: Ferry, spread, ${arriving}: p99 ${measured.p99Ms.toFixed(1)} ms`);
  }
  return { ferry, naive, bulk, halfPeak: { ratePerSecond, rounds: halfPeak }, totals: sides.totals };
}
