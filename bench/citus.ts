/**
 * `npm run bench:citus -- --url postgres://…`: transfers on a Citus cluster beside a plain PostgreSQL, in interleaved rounds. The URL is that
 * of the coordinator's database `postgres`, which knows the other servers; each of these is a worker. Prints a table and each ratio
 * beside its target, and exits with 1 if one is missed (`-- --quick`: one short round; `-- --rounds 9`; `-- --clusters 2x8,2x32`: only two workers, with 8 and 32
 * shards).
 *
 * Only the node that is measured runs; the others are suspended, because what they do after their rounds, such as the audit, would be counted.
 *
 * On one machine, the rate cannot grow with the servers, which share its processors. What can be measured there is the processor time per
 * transfer on the busiest server: on machines of their own, that is what limits the rate.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressOf, type Cluster, createOnCluster, findCluster, on } from '../test/support/cluster.ts';
import { connectUnlocked } from '../test/support/vault.ts';
import { serverCpuUs } from './cpu.ts';
import { formatTable, integer, median } from './figures.ts';
import { checkFerry } from './http/check.ts';
import { countsOf } from './http/counts.ts';
import type { Load } from './http/measure.ts';
import { transferPlan } from './http/plans.ts';
import { runOnStage } from './http/run.ts';
import {
  FERRY,
  PROFILE_IDS,
  prepareFerry,
  type Service,
  type Stage,
  startService,
  untilAudited,
} from './http/stage.ts';
import { judge, type Target } from './http/targets.ts';
import { scratchDirectory } from './machine.ts';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    clusters: { type: 'string', default: '2x8,2x32,1x8,4x8' },
  },
});

/** As many for each worker: a cluster gets servers because it has more to do. Plain PostgreSQL has the load of two. */
const CONNECTIONS = 128;
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5));
const TIMES = options.quick ? { warmUpMs: 1_000, measureMs: 2_000 } : { warmUpMs: 2_500, measureMs: 3_500 };

type Round = {
  readonly perSecond: number;
  /** Processor time per transfer, of the busiest server, of the coordinator, and of all servers. */
  readonly busiestUs: number;
  readonly coordinatorUs: number;
  readonly allUs: number;
  /** Commands that shared a commit. */
  readonly batchSize: number;
};

type Variant = {
  readonly name: string;
  readonly stage: Stage;
  readonly database: string;
  readonly service: Service;
  readonly connections: number;
  /** Of the processes of each server, the coordinator first. */
  readonly postmasters: readonly number[];
  readonly rounds: Round[];
  acknowledged: number;
};

/** The parent of a session's process, if the server is on this machine. */
async function postmasterOf(server: string): Promise<number> {
  const [row] = await on(
    addressOf(server, 'postgres'),
    `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
  );
  try {
    const stat = readFileSync(`/proc/${(row as { pid: number }).pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

/** The same stage as that of a plain server, with the databases of a cluster. */
async function stageOn(plain: Stage, cluster: Cluster, shards: number): Promise<Stage> {
  const coordinator = cluster.servers[0]!;
  const directory = await scratchDirectory();
  const connect = (database: string) => connectUnlocked(addressOf(coordinator, database), 2);
  return {
    ...plain,
    directory,
    connect,
    async using(name, work) {
      const database = connect(name);
      try {
        return await work(database);
      } finally {
        await database.close();
      }
    },
    async administrate(statement) {
      const [, name] = /^create database (\w+)$/.exec(statement)!;
      for (const server of cluster.servers)
        await on(addressOf(server, 'postgres'), `drop database if exists ${name} with (force)`);
      await createOnCluster(cluster, name!);
      await on(
        addressOf(coordinator, 'postgres'),
        `alter database ${name} set citus.shard_count = ${shards}`,
      );
    },
    environment: (database) => ({
      ...plain.environment(database),
      DATABASE_URL: `postgres://postgres@${coordinator}/${database}`,
      FERRY_DATA_DIR: directory,
    }),
  };
}

async function variantOf(
  name: string,
  stage: Stage,
  database: string,
  servers: readonly string[],
): Promise<Variant> {
  const postmasters =
    servers.length === 0 ? [stage.server.pid] : await Promise.all(servers.map(postmasterOf));
  const service = await startService(stage, database);
  await untilAudited(service);
  const connections = CONNECTIONS * (servers.length === 0 ? 2 : servers.length - 1);
  return { name, stage, database, service, connections, postmasters, rounds: [], acknowledged: 0 };
}

async function runRound(load: Load, variant: Variant, isCounted = true): Promise<void> {
  const { service, connections, postmasters } = variant;
  process.kill(service.pid, 'SIGCONT');
  const before = postmasters.map(serverCpuUs);
  const counts = await countsOf([service]);
  const { total, perSecond } = await load.run(service, {
    plan: transferPlan('spread', PROFILE_IDS, service.token),
    connections,
    ...TIMES,
  });
  variant.acknowledged += total;
  const used = postmasters.map((pid, index) => (serverCpuUs(pid) - before[index]!) / total);
  const { batches, commands } = await countsOf([service]);
  process.kill(service.pid, 'SIGSTOP');
  if (!isCounted) return;
  variant.rounds.push({
    perSecond,
    busiestUs: Math.max(...used),
    coordinatorUs: used[0]!,
    allUs: used.reduce((sum, one) => sum + one, 0),
    batchSize: (commands - counts.commands) / (batches - counts.batches),
  });
}

function tableOf(variants: readonly Variant[]): string {
  const head = ['', '', 'transfers/s', 'a batch', 'busiest server µs', 'coordinator µs', 'all servers µs'];
  const rows = variants.map(({ name, rounds }) => {
    const of = (figure: keyof Round): number => median(rounds.map((round) => round[figure]));
    return [
      name,
      '',
      integer(of('perSecond')),
      integer(of('batchSize')),
      of('busiestUs').toFixed(1),
      of('coordinatorUs').toFixed(1),
      of('allUs').toFixed(1),
    ];
  });
  return formatTable([head, ...rows]);
}

/** Of the same round, the median: what else happens on the machine meets both. */
function ratio(one: Variant, other: Variant, figure: 'perSecond' | 'busiestUs'): number {
  return median(one.rounds.map((round, index) => round[figure] / other.rounds[index]![figure]));
}

/** Workers and shards. */
type Size = readonly [workers: number, shards: number];
const SIZES: readonly Size[] = options.clusters
  .split(',')
  .map((text) => text.split('x').map(Number) as unknown as Size);

/** Of those that were measured. */
function targetsOf(variants: readonly Variant[]): Target[] {
  const target = (
    what: string,
    atLeast: number,
    figure: 'perSecond' | 'busiestUs',
    names: readonly [string, string],
  ): Target[] => {
    const [one, other] = names.map((name) => variants.find((variant) => variant.name === name));
    if (one === undefined || other === undefined) return [];
    return [{ what, value: ratio(one, other, figure), bound: { atLeast }, digits: 2 }];
  };
  const [few, many, single, four] = (
    [
      [2, 8],
      [2, 32],
      [1, 8],
      [4, 8],
    ] as const
  ).map(nameOf);
  return [
    ...target('three servers, 8 shards ÷ plain PostgreSQL', 0.6, 'perSecond', [few!, PLAIN]),
    ...target('three servers, 32 shards ÷ plain PostgreSQL', 0.4, 'perSecond', [many!, PLAIN]),
    ...target('busiest server, one worker ÷ two', 1.7, 'busiestUs', [single!, few!]),
    ...target('busiest server, two workers ÷ four', 1.7, 'busiestUs', [few!, four!]),
  ];
}

const PLAIN = 'plain PostgreSQL';

function nameOf([workers, shards]: Size): string {
  return `${workers} worker${workers === 1 ? '' : 's'}, ${shards} shards`;
}

function signalAll(variants: readonly Variant[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { service } of variants) process.kill(service.pid, signal);
}

async function runRounds(load: Load, variants: readonly Variant[]): Promise<void> {
  for (const variant of variants) await runRound(load, variant, false);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const variant of round % 2 === 1 ? variants : variants.toReversed()) {
      await runRound(load, variant);
      console.log(
        `round ${round}: ${variant.name}: ${integer(variant.rounds.at(-1)!.perSecond)} transfers/s`,
      );
    }
  }
}

async function measure(plain: Stage, [load]: readonly Load[]): Promise<boolean> {
  const cluster = options.url === undefined ? undefined : await findCluster({ url: options.url });
  if (cluster === undefined) throw new Error('--url must name the database of a Citus coordinator.');
  const variants = [await variantOf(PLAIN, plain, FERRY, [])];
  for (const [workers, shards] of SIZES) {
    if (cluster.servers.length <= workers) continue;
    const servers = cluster.servers.slice(0, workers + 1);
    const stage = await stageOn(plain, { servers }, shards);
    const database = `bench_${workers}_${shards}`;
    await prepareFerry(stage, database);
    variants.push(await variantOf(nameOf([workers, shards]), stage, database, servers));
  }
  signalAll(variants, 'SIGSTOP');
  try {
    await runRounds(load!, variants);
  } finally {
    // A suspended node could not end.
    signalAll(variants, 'SIGCONT');
  }
  for (const { service } of variants) await service.stop();
  for (const { stage, database, acknowledged } of variants) await checkFerry(stage, database, acknowledged);
  console.log(`\n${tableOf(variants)}\n`);
  const targets = targetsOf(variants);
  const isMet = judge(targets);
  console.log(`\n${targets.map(({ what, value }) => `${what} ${value.toFixed(2)}`).join('; ')}`);
  return isMet;
}

await runOnStage(1, measure);
