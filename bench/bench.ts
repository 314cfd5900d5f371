/**
 * `npm run bench`: what the service does over HTTP, beside the same transfers written with naive SQL, on the same
 * PostgreSQL, in the same run. Prints tables, writes `bench/results.json` and a chart.
 *
 *   npm run bench                 everything but growth and soak, in less than five minutes
 *   npm run bench -- --growth     the rate after 100,000, 1 million and 10 million stored transfers (--sizes for others)
 *   npm run bench -- --soak       ten minutes at half of the peak rate: memory must stay flat (--minutes for others)
 *   npm run bench -- --quick      a trial of any of these, whose results go to bench/out/
 *   npm run bench -- --postgres fsync=off     with another setting of PostgreSQL; this one is refused
 *
 * Fairness:
 * - One embedded server with its ordinary settings and full durability; it is asked, and the run refused otherwise.
 * - Each side has its own database on it, one the copy of the other: the same tables, indexes, profiles and funds. Each
 *   is audited by itself afterwards, and must hold exactly what was acknowledged.
 * - The service, the load and pgbench are processes of their own and share the machine.
 */
import { parseArgs } from 'node:util';
import { residentMb } from './cpu.ts';
import { drawChart } from './http/chart.ts';
import { checkBoth } from './http/check.ts';
import { compare } from './http/comparison.ts';
import { measureGrowth } from './http/growth.ts';
import {
  growthResults,
  growthTarget,
  printGrowth,
  printSoak,
  soakResults,
  soakTargets,
} from './http/long-results.ts';
import { type Load, startLoad } from './http/measure.ts';
import { measureOperations } from './http/operations.ts';
import { printResults, resultPath, resultsOf, writeResult, writeResults } from './http/results.ts';
import { soak } from './http/soak.ts';
import {
  FERRY,
  NAIVE,
  openStage,
  prepareFerry,
  type Stage,
  startService,
  stopServices,
  untilAudited,
} from './http/stage.ts';
import { judge, summarise, targetsOf } from './http/targets.ts';
import { FULL, QUICK } from './http/variants.ts';
import {
  cleanUpWhenInterrupted,
  describeMachine,
  type Machine,
  machineLine,
  requireDurability,
  watchOthers,
} from './machine.ts';
import { findPgbench, PGBENCH_MISSING } from './pgbench.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '100000,1000000,10000000' },
    soak: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    postgres: { type: 'string', multiple: true, default: [] },
  },
});

async function comparison(stage: Stage, load: Load, machine: Machine, program: string): Promise<boolean> {
  const extent = options.quick ? QUICK : FULL;
  await stage.administrate(`create database ${NAIVE} template ${FERRY}`);
  await stage.administrate('checkpoint');
  await stage.using(NAIVE, requireDurability);
  const service = await startService(stage, FERRY);
  await untilAudited(service);
  const memoryAtRestMb = residentMb(service.pid);
  const othersShare = watchOthers(stage.server.pid, () => [service.pid, load.pid]);

  const compared = await compare(stage, service, load, program, extent);
  const operations = await stage.using(FERRY, (database) =>
    measureOperations(stage, database, service, load),
  );
  const share = othersShare();
  await service.stop();
  await checkBoth(stage, compared.totals, operations);

  const underLoad = [
    ...[...compared.ferry, compared.halfPeak].flatMap(({ rounds }) => rounds),
    ...compared.bulk.map(({ measured }) => measured),
  ];
  const summary = summarise(compared, [...underLoad, ...operations.all.map(({ measured }) => measured)]);
  const results = resultsOf({
    machine,
    extent,
    comparison: compared,
    operations,
    summary,
    memoryAtRestMb,
    othersShare: share,
  });
  printResults(results);
  writeResults(resultPath(options.quick, 'json'), results);
  writeResult(resultPath(options.quick, 'svg'), drawChart(compared, machine));
  return judge(targetsOf(summary));
}

async function growth(stage: Stage, load: Load, machine: Machine): Promise<boolean> {
  const sizes = options.sizes.split(',').map(Number);
  const results = growthResults(await measureGrowth(stage, load, sizes), machine);
  printGrowth(results);
  writeResults(resultPath(options.quick, 'json'), { growth: results });
  return judge([growthTarget(results)]);
}

async function soaked(stage: Stage, load: Load, machine: Machine): Promise<boolean> {
  const results = soakResults(await soak(stage, load, Number(options.minutes)), machine);
  printSoak(results);
  writeResults(resultPath(options.quick, 'json'), { soak: results });
  return judge(soakTargets(results));
}

async function main(program: string): Promise<boolean> {
  const started = performance.now();
  const settings = options.postgres.map((one) => one.split('=') as [string, string]);
  const stage = await openStage(Object.fromEntries(settings));
  const load = startLoad(stage.server.pid);
  const cleanUp = async (): Promise<void> => {
    load.stop();
    await stopServices();
    await stage.cleanUp();
  };
  cleanUpWhenInterrupted(cleanUp);
  try {
    console.log('Preparing the database …');
    await prepareFerry(stage);
    const machine = await stage.using(FERRY, (database) => describeMachine(stage.directory, database));
    console.log(machineLine(machine));
    if (options.growth) return await growth(stage, load, machine);
    if (options.soak) return await soaked(stage, load, machine);
    return await comparison(stage, load, machine, program);
  } catch (error) {
    console.error(`\n${(error as Error).message}`);
    return false;
  } finally {
    await cleanUp();
    console.log(`\n${((performance.now() - started) / 60_000).toFixed(1)} minutes.`);
  }
}

const program = findPgbench();
if (program === undefined) {
  console.error(PGBENCH_MISSING);
  process.exitCode = 1;
} else {
  process.exitCode = (await main(program)) ? 0 : 1;
}
