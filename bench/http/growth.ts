/**
 * Does it stay as fast as it is when there is a lot? Transfers are loaded up to each size; then the service on that
 * database and another one on a copy of the first size are measured in turns, so that what the machine does meanwhile
 * happens to both.
 */
import { statfs } from 'node:fs/promises';
import { integer, median } from '../figures.ts';
import { checkFerry } from './check.ts';
import { TIMES } from './comparison.ts';
import { loadTransfers } from './growth-load.ts';
import type { Load, Measurement } from './measure.ts';
import { measureReads, type Operation } from './operations.ts';
import { transferPlan, type Workload } from './plans.ts';
import { FERRY, PROFILE_IDS, type Service, type Stage, startService, untilAudited } from './stage.ts';

export const GROWTH_CONNECTIONS = 256;
const ROUNDS = 5;
/** Tables and indexes take 1,700, and some gigabytes go to the write-ahead log, copies and sorting. */
const BYTES_PER_TRANSFER = 3_000;
/** A copy of the first size that is never measured itself, and the copy of it that is. */
const FIRST_SIZE = 'first_size';
const BASELINE = 'baseline';

export type GrowthStage = {
  readonly stored: number;
  readonly databaseBytes: number;
  readonly loadSeconds: number;
  readonly rounds: readonly Measurement[];
  readonly baselineRounds: readonly Measurement[];
  readonly ratio: number;
  readonly others: readonly Operation[];
};

async function requireDisk(stage: Stage, transfers: number): Promise<void> {
  const { bavail, bsize } = await statfs(stage.directory);
  const [free, needed] = [bavail * bsize, transfers * BYTES_PER_TRANSFER];
  if (free < needed) {
    throw new Error(
      `${gigabytes(free)} GB are free, ${integer(transfers)} transfers need ${gigabytes(needed)} GB`,
    );
  }
}

export function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}

function databaseBytes(stage: Stage): Promise<number> {
  return stage.using(FERRY, async (database) => {
    const [row] = await database.query<{ bytes: bigint }>(
      'select pg_database_size(current_database()) as bytes',
    );
    return Number(row!.bytes);
  });
}

type Turns = {
  readonly large: readonly Measurement[];
  readonly baseline: readonly Measurement[];
  /** Transfers that the large side has more now. */
  readonly written: number;
};

/** Both warm up, then take turns, the one that begins changing each time. */
async function measureInTurns(load: Load, large: Service, baseline: Service): Promise<Turns> {
  const sides = {
    large: { service: large, rounds: [] as Measurement[] },
    baseline: { service: baseline, rounds: [] as Measurement[] },
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of round % 2 === 0
      ? (['large', 'baseline'] as const)
      : (['baseline', 'large'] as const)) {
      const { service, rounds } = sides[name];
      const plan = transferPlan('spread', PROFILE_IDS, service.token);
      const measured = await load.run(service, { plan, connections: GROWTH_CONNECTIONS, ...TIMES });
      rounds.push(measured);
      const label = round === 0 ? 'warm-up' : `round ${round}`;
      console.log(
        `${label}: ${name}, ${GROWTH_CONNECTIONS} connections: ${integer(measured.perSecond)} transfers/s`,
      );
    }
  }
  const written = sides.large.rounds.reduce((sum, { total }) => sum + total, 0);
  return { large: sides.large.rounds.slice(1), baseline: sides.baseline.rounds.slice(1), written };
}

/** Hot profiles and reads, on the large side only. */
async function measureOthers(stage: Stage, load: Load, large: Service): Promise<Operation[]> {
  const others: Operation[] = [];
  for (const workload of ['hot source', 'hot destination'] satisfies Workload[]) {
    const plan = transferPlan(workload, PROFILE_IDS, large.token);
    const measured = await load.run(large, { plan, connections: GROWTH_CONNECTIONS, ...TIMES });
    console.log(`${workload}, ${GROWTH_CONNECTIONS} connections: ${integer(measured.perSecond)} transfers/s`);
    others.push({ name: workload, connections: GROWTH_CONNECTIONS, measured });
  }
  const reads = await stage.using(FERRY, (database) => measureReads(stage, database, large, load));
  return [...others, ...reads];
}

export async function measureGrowth(
  stage: Stage,
  load: Load,
  sizes: readonly number[],
): Promise<GrowthStage[]> {
  const stages: GrowthStage[] = [];
  let loaded = 0;
  let stored = 0;
  await requireDisk(stage, sizes.at(-1)!);
  for (const size of sizes) {
    console.log(`\nLoading up to ${integer(size)} transfers …`);
    const started = performance.now();
    const count = await loadTransfers(stage, FERRY, loaded, Math.max(0, size - stored));
    const loadSeconds = (performance.now() - started) / 1_000;
    loaded += count;
    stored += count;
    const bytes = await databaseBytes(stage);
    console.log(
      `${integer(stored)} transfers take ${gigabytes(bytes)} GB; loaded in ${Math.round(loadSeconds)} s`,
    );
    if (stages.length === 0) await stage.administrate(`create database ${FIRST_SIZE} template ${FERRY}`);
    await stage.administrate(`drop database if exists ${BASELINE}`);
    await stage.administrate(`create database ${BASELINE} template ${FIRST_SIZE}`);
    await stage.administrate('checkpoint');

    const [large, baseline] = [await startService(stage, FERRY), await startService(stage, BASELINE)];
    await untilAudited(large);
    await untilAudited(baseline);
    const turns = await measureInTurns(load, large, baseline);
    await baseline.stop();
    const others = await measureOthers(stage, load, large);
    await large.stop();
    stages.push({
      stored,
      databaseBytes: bytes,
      loadSeconds,
      rounds: turns.large,
      baselineRounds: turns.baseline,
      ratio: median(turns.large.map(rate)) / median(turns.baseline.map(rate)),
      others,
    });
    const transfers = others.filter(({ name }) => name.startsWith('hot '));
    stored += transfers.reduce((sum, { measured }) => sum + measured.total, turns.written);
  }
  await checkFerry(stage, FERRY, stored);
  return stages;
}

const rate = ({ perSecond }: Measurement): number => perSecond;
