// Does the service keep what it should forget? A steady load for minutes, and its memory meanwhile.
import { integer, median } from '../figures.ts';
import { checkFerry } from './check.ts';
import { TIMES } from './comparison.ts';
import type { Load, Measurement } from './measure.ts';
import { transferPlan } from './plans.ts';
import { FERRY, PROFILE_IDS, type Stage, startService, untilAudited } from './stage.ts';

const CONNECTIONS = 256;
const PROGRESS_MS = 30_000;

export type Soak = {
  readonly minutes: number;
  readonly ratePerSecond: number;
  readonly measured: Measurement;
  /** All samples, in order. */
  readonly memoryMb: readonly number[];
  /** The last quarter beside the second one: the first is for what is kept on purpose to fill up. */
  readonly growth: number;
};

function growthOf(samples: readonly number[]): number {
  const quarter = Math.floor(samples.length / 4);
  return median(samples.slice(3 * quarter)) / median(samples.slice(quarter, 2 * quarter));
}

export async function soak(stage: Stage, load: Load, minutes: number): Promise<Soak> {
  const service = await startService(stage, FERRY);
  await untilAudited(service);
  const job = { plan: transferPlan('spread', PROFILE_IDS, service.token), connections: CONNECTIONS };
  const warmUp = await load.run(service, { ...job, ...TIMES });
  const peak = await load.run(service, { ...job, ...TIMES });
  const ratePerSecond = Math.round(peak.perSecond / 2);
  console.log(`${minutes} minutes with ${integer(ratePerSecond)} transfers a second arriving.`);
  const memoryMb: number[] = [];
  const started = performance.now();
  let toldMs = 0;
  const measureMs = minutes * 60_000;
  const measured = await load.run(service, { ...job, warmUpMs: 0, measureMs, ratePerSecond }, (now) => {
    memoryMb.push(now);
    const elapsedMs = performance.now() - started;
    if (elapsedMs - toldMs < PROGRESS_MS) return;
    toldMs = elapsedMs;
    console.log(`${(elapsedMs / 60_000).toFixed(1)} minutes: ${Math.round(now)} MB`);
  });
  await service.stop();
  await checkFerry(stage, FERRY, warmUp.total + peak.total + measured.total);
  return { minutes, ratePerSecond, measured, memoryMb, growth: growthOf(memoryMb) };
}
