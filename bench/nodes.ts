/**
 * `npm run bench:nodes`: what several nodes on one database do together: one node; two and three that share all profiles, with the node
 * link and without it; and two and three without it of which each has profiles of its own, the best that nodes side by side can do.
 * Rounds of all variants are interleaved. Prints a table and each ratio beside its target, and exits with 1 if one is missed
 * (`-- --quick`: one short round; `-- --rounds 9`).
 *
 * At the end the deciding node is killed while the others have the load. Every transfer that was acknowledged must be there, once.
 *
 * The load is the same for every variant: as many connections in total, shared among the nodes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { processCpuUs, serverCpuUs } from './cpu.ts';
import { formatTable, integer, median } from './figures.ts';
import { checkFerry } from './http/check.ts';
import { type Counts, countsOf } from './http/counts.ts';
import type { Load } from './http/measure.ts';
import { transferPlan } from './http/plans.ts';
import { runOnStage } from './http/run.ts';
import { FERRY, PROFILE_IDS, type Service, type Stage, startService, untilAudited } from './http/stage.ts';
import { judge, type Target } from './http/targets.ts';
import { watchOthers } from './machine.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
  },
});

const NODES_MAX = 3;
const CONNECTIONS = 240;
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5));
const TIMES = options.quick ? { warmUpMs: 1_000, measureMs: 2_000 } : { warmUpMs: 2_500, measureMs: 3_500 };

type Variant = {
  readonly nodes: number;
  readonly profiles: 'shared' | 'disjoint';
  readonly link: 'on' | 'off';
  readonly rounds: Round[];
};

/** The nodes with the link, the deciding one first, and those without it. */
type Services = Readonly<Record<Variant['link'], readonly Service[]>>;

type Round = {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Processor time of all nodes, and of PostgreSQL, per transfer. */
  readonly nodesCpuUs: number;
  readonly serverCpuUs: number;
  /** Commands that shared a commit. */
  readonly batchSize: number;
  /** Batches, of a thousand, that were decided on a stale cache, and again on locked rows. */
  readonly stalePerThousand: number;
  readonly handedOverShare: number;
  readonly handedOverMs: number;
};

function profilesOf({ nodes, profiles }: Variant, node: number): readonly string[] {
  if (profiles === 'shared') return PROFILE_IDS;
  const each = Math.floor(PROFILE_IDS.length / nodes);
  return PROFILE_IDS.slice(node * each, (node + 1) * each);
}

/** All loads at once, one for each node. */
async function runRound(
  stage: Stage,
  all: Services,
  loads: readonly Load[],
  variant: Variant,
): Promise<number> {
  const services = all[variant.link];
  const used = services.slice(0, variant.nodes);
  const cpuOf = (): number => services.reduce((sum, { pid }) => sum + processCpuUs(pid), 0);
  const before = { counts: await countsOf(services), nodes: cpuOf(), server: serverCpuUs(stage.server.pid) };
  const measured = await Promise.all(
    used.map((service, node) =>
      loads[node]!.run(service, {
        plan: transferPlan('spread', profilesOf(variant, node), service.token),
        connections: Math.floor(CONNECTIONS / variant.nodes),
        ...TIMES,
      }),
    ),
  );
  const total = measured.reduce((sum, one) => sum + one.total, 0);
  const counts = await countsOf(services);
  const grown = (key: keyof Counts): number => counts[key] - before.counts[key];
  const round: Round = {
    perSecond: measured.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p99Ms: Math.max(...measured.map(({ p99Ms }) => p99Ms)),
    nodesCpuUs: (cpuOf() - before.nodes) / total,
    serverCpuUs: (serverCpuUs(stage.server.pid) - before.server) / total,
    batchSize: grown('commands') / grown('batches'),
    stalePerThousand: (1_000 * grown('stale')) / grown('batches'),
    handedOverShare: grown('replied') / total,
    handedOverMs: (1_000 * grown('handedOverSeconds')) / Math.max(1, grown('replied') + grown('others')),
  };
  variant.rounds.push(round);
  return total;
}

const nameOf = ({ nodes, profiles, link }: Variant): string =>
  nodes === 1 ? '1 node' : `${nodes} nodes, ${profiles} profiles, link ${link}`;

function tableOf(variants: readonly Variant[]): string {
  const head = [
    '',
    '',
    'transfers/s',
    'p99 ms',
    'nodes µs',
    'PostgreSQL µs',
    'batch',
    'stale ‰',
    'handed over',
    'ms',
  ];
  const rows = variants.map((variant) => {
    const of = (figure: keyof Round): number => median(variant.rounds.map((round) => round[figure]));
    return [
      nameOf(variant),
      '',
      integer(of('perSecond')),
      of('p99Ms').toFixed(1),
      of('nodesCpuUs').toFixed(1),
      of('serverCpuUs').toFixed(1),
      of('batchSize').toFixed(0),
      of('stalePerThousand').toFixed(1),
      `${(100 * of('handedOverShare')).toFixed(0)} %`,
      of('handedOverMs').toFixed(1),
    ];
  });
  return formatTable([head, ...rows]);
}

/** Of rates in the same round, the median: what else happens on the machine meets both. */
function ratio(one: Variant, other: Variant): number {
  return median(one.rounds.map(({ perSecond }, round) => perSecond / other.rounds[round]!.perSecond));
}

function targetsOf(variants: readonly Variant[]): Target[] {
  const find = (nodes: number, profiles: Variant['profiles'], link: Variant['link']): Variant =>
    variants.find((one) => one.nodes === nodes && one.profiles === profiles && one.link === link)!;
  const single = find(1, 'shared', 'off');
  return [2, 3].flatMap((nodes): Target[] => {
    const shared = find(nodes, 'shared', 'on');
    return [
      {
        what: `${nodes} nodes, shared ÷ disjoint profiles`,
        value: ratio(shared, find(nodes, 'disjoint', 'off')),
        bound: { atLeast: 0.9 },
        digits: 2,
      },
      {
        what: `${nodes} nodes, shared profiles ÷ 1 node`,
        value: ratio(shared, single),
        bound: { atLeast: 0.95 },
        digits: 2,
      },
    ];
  });
}

/** Kills the node that decides, while the two others have the load: the slowest of their answers counts. */
async function killDeciding({ on }: Services, loads: readonly Load[]) {
  const [deciding, ...left] = on;
  const running = left.map((service, index) =>
    loads[index]!.run(service, {
      plan: transferPlan('spread', PROFILE_IDS, service.token),
      connections: CONNECTIONS / left.length,
      warmUpMs: 2_000,
      measureMs: 4_000,
    }),
  );
  await sleep(3_000);
  process.kill(deciding!.pid, 'SIGKILL');
  const measured = await Promise.all(running);
  return {
    total: measured.reduce((sum, { total }) => sum + total, 0),
    slowestMs: Math.max(...measured.map(({ p999Ms }) => p999Ms)),
  };
}

const VARIANTS: readonly Omit<Variant, 'rounds'>[] = [
  { nodes: 1, profiles: 'shared', link: 'off' },
  ...[2, 3].flatMap((nodes): Omit<Variant, 'rounds'>[] => [
    { nodes, profiles: 'shared', link: 'on' },
    { nodes, profiles: 'disjoint', link: 'off' },
    { nodes, profiles: 'shared', link: 'off' },
  ]),
];

/** One after the other, so that the first one with the link decides. */
async function startAll(stage: Stage): Promise<Services> {
  const started = { on: [] as Service[], off: [] as Service[] };
  for (const link of ['on', 'off'] as const)
    for (let count = 0; count < NODES_MAX; count += 1)
      started[link].push(await startService(stage, FERRY, { FERRY_NODE_LINK: link }));
  for (const service of [...started.on, ...started.off]) await untilAudited(service);
  return started;
}

async function measure(stage: Stage, loads: readonly Load[]): Promise<boolean> {
  const services = await startAll(stage);
  const all = [...services.on, ...services.off];
  const others = watchOthers(stage.server.pid, () => [...all, ...loads].map(({ pid }) => pid));
  const variants: Variant[] = VARIANTS.map((variant) => ({ ...variant, rounds: [] }));
  let acknowledged = 0;
  // So that the code of all nodes is compiled.
  for (const link of ['on', 'off'] as const)
    acknowledged += await runRound(stage, services, loads, {
      nodes: NODES_MAX,
      profiles: 'shared',
      link,
      rounds: [],
    });
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const variant of round % 2 === 1 ? variants : variants.toReversed()) {
      acknowledged += await runRound(stage, services, loads, variant);
      const { perSecond } = variant.rounds.at(-1)!;
      console.log(`round ${round}: ${nameOf(variant)}: ${integer(perSecond)} transfers/s`);
    }
  }
  others();
  const killed = await killDeciding(services, loads);
  acknowledged += killed.total;
  for (const service of all.slice(1)) await service.stop();
  await checkFerry(stage, FERRY, acknowledged);
  console.log(`\n${tableOf(variants)}\n`);
  const targets: Target[] = [
    ...targetsOf(variants),
    {
      what: 'slowest answer of the others when the deciding node is killed (p99.9)',
      value: killed.slowestMs,
      bound: { atMost: 1_000 },
      digits: 0,
      unit: 'ms',
    },
  ];
  const isMet = judge(targets);
  console.log(`\n${targets.map(({ what, value }) => `${what} ${value.toFixed(2)}`).join('; ')}`);
  return isMet;
}

await runOnStage(NODES_MAX, measure);
