/**
 * `npm run bench:overload`: what the service does when three times as many transfers arrive as it can execute, from 2,000
 * connections, for a minute (`-- --times 2 --seconds 20` for others). Prints each figure beside its target, and exits with 1
 * if one is missed.
 *
 * - The peak is the rate of connections that always wait for an answer. The sustainable rate is the highest share of it at
 *   which transfers that arrive whatever the service does are all accepted, with a p99 of at most 250 ms.
 * - The time of an accepted transfer counts from when it was due, that of a refused one from when it was sent.
 * - Transfers that were refused must not be in the ledger, and those that were accepted once: that is counted at the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { residentMb } from './cpu.ts';
import { integer } from './figures.ts';
import { checkFerry } from './http/check.ts';
import type { LoadJob } from './http/job.ts';
import type { Load, Measurement } from './http/measure.ts';
import { transferPlan } from './http/plans.ts';
import { runOnStage } from './http/run.ts';
import { FERRY, PROFILE_IDS, type Service, type Stage, startService, untilAudited } from './http/stage.ts';
import { judge, type Target } from './http/targets.ts';
import { watchOthers } from './machine.ts';

const CONNECTIONS = 2_000;
const CONNECTIONS_AT_PEAK = 256;
const SHARES = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
const SUSTAINABLE_P99_MS = 250;
const STEP = { warmUpMs: 2_000, measureMs: 5_000 };
/** After the overload: how soon the service must be as it was before. */
const NORMAL_MS = 5_000;
const REST_MS = 10_000;
const PROBE_MS = 500;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, times: { type: 'string', default: '3' } },
});

type Run = (job: Omit<LoadJob, 'host' | 'port' | 'plan'>) => Promise<Measurement>;

/** Probes liveness and readiness meanwhile, as a supervisor does; the slowest answer counts, NaN if one failed. */
function probe(service: Service): () => Promise<number> {
  let slowestMs = 0;
  const ended = new AbortController();
  const probing = (async () => {
    while (!ended.signal.aborted) {
      for (const path of ['/health/live', '/health/ready']) {
        const startedMs = performance.now();
        const isOk = await fetch(service.url + path).then(
          ({ status }) => status === 200,
          () => false,
        );
        slowestMs = isOk ? Math.max(slowestMs, performance.now() - startedMs) : Number.NaN;
      }
      await sleep(PROBE_MS);
    }
  })();
  return async () => {
    ended.abort();
    await probing;
    return slowestMs;
  };
}

async function sustainableRate(run: Run, peak: number): Promise<number> {
  for (const share of SHARES) {
    const ratePerSecond = Math.round(share * peak);
    const { p50Ms, p99Ms, refused } = await run({
      connections: CONNECTIONS,
      ...STEP,
      ratePerSecond,
      mayRefuse: true,
    });
    console.log(
      `${integer(ratePerSecond)} a second: p50 ${integer(p50Ms)} ms, p99 ${integer(p99Ms)} ms, ${integer(refused!.count)} refused`,
    );
    if (refused!.count === 0 && p99Ms <= SUSTAINABLE_P99_MS) return ratePerSecond;
  }
  throw new Error('no rate is sustainable on this machine');
}

type Figures = {
  readonly peak: number;
  readonly overload: Measurement;
  readonly restMb: number;
  readonly afterMb: number;
  readonly slowestProbeMs: number;
  readonly before: Measurement;
  readonly after: Measurement;
};

function targetsOf({ peak, overload, restMb, afterMb, slowestProbeMs, before, after }: Figures): Target[] {
  const ms = { digits: 0, unit: 'ms' } as const;
  const mb = { digits: 0, unit: 'MB' } as const;
  return [
    { what: 'accepted ÷ peak', value: overload.perSecond / peak, bound: { atLeast: 0.9 }, digits: 2 },
    { what: 'p99 of accepted transfers', value: overload.p99Ms, bound: { atMost: 500 }, ...ms },
    {
      what: 'p99 of refusals, while the machine keeps its pace',
      value: overload.refused!.steadyP99Ms,
      bound: { atMost: 50 },
      ...ms,
    },
    { what: 'slowest answer of /health', value: slowestProbeMs, bound: { atMost: 1_000 }, ...ms },
    { what: 'memory of the service, the most', value: overload.memoryMb, bound: { atMost: 400 }, ...mb },
    { what: 'memory afterwards, above rest', value: afterMb - restMb, bound: { atMost: 50 }, ...mb },
    { what: 'refusals after 5 s', value: after.refused!.count, bound: { atMost: 0 }, digits: 0 },
    {
      what: 'p50 at half of the sustainable rate after 5 s ÷ before',
      value: after.p50Ms / before.p50Ms,
      bound: { atMost: 2 },
      digits: 2,
    },
  ];
}

async function measure(stage: Stage, load: Load): Promise<boolean> {
  const service = await startService(stage, FERRY);
  await untilAudited(service);
  const othersShare = watchOthers(stage.server.pid, () => [service.pid, load.pid]);
  const plan = transferPlan('spread', PROFILE_IDS, service.token);
  let acknowledged = 0;
  const run: Run = async (job) => {
    const measured = await load.run(service, { ...job, plan });
    acknowledged += measured.total;
    return measured;
  };
  await run({ connections: CONNECTIONS_AT_PEAK, ...STEP });
  const { perSecond: peak } = await run({ connections: CONNECTIONS_AT_PEAK, ...STEP });
  console.log(`peak: ${integer(peak)} transfers a second from ${CONNECTIONS_AT_PEAK} connections`);
  const sustainable = await sustainableRate(run, peak);
  const half = { connections: CONNECTIONS, ratePerSecond: Math.round(sustainable / 2), mayRefuse: true };
  const before = await run({ ...half, ...STEP });
  await sleep(REST_MS);
  const restMb = residentMb(service.pid);

  const ratePerSecond = Math.round(Number(options.times) * sustainable);
  console.log(
    `sustainable: ${integer(sustainable)} a second; now ${integer(ratePerSecond)}, ${CONNECTIONS} connections`,
  );
  const slowest = probe(service);
  const measureMs = Number(options.seconds) * 1_000;
  const overload = await run({
    connections: CONNECTIONS,
    ratePerSecond,
    warmUpMs: 2_000,
    measureMs,
    mayRefuse: true,
  });
  const slowestProbeMs = await slowest();
  const after = await run({ ...half, warmUpMs: NORMAL_MS, measureMs: STEP.measureMs });
  await sleep(REST_MS);
  const afterMb = residentMb(service.pid);
  othersShare();
  await service.stop();
  await checkFerry(stage, FERRY, acknowledged);

  const { refused, pace } = overload;
  console.log(
    `\nAccepted: ${integer(overload.perSecond)} a second, p50 ${integer(overload.p50Ms)} ms, p99 ${integer(overload.p99Ms)} ms ` +
      `(${integer(pace!.p99Ms)} ms while the machine keeps its pace, which it did not for ${integer(100 * pace!.slowShare)}% of the time).`,
  );
  console.log(
    `Refused: ${integer(refused!.count / Number(options.seconds))} a second, p50 ${integer(refused!.p50Ms)} ms, p99 ${integer(refused!.p99Ms)} ms.`,
  );
  const cores = (perAnswerUs: number): string => ((perAnswerUs * overload.perSecond) / 1e6).toFixed(2);
  console.log(
    `Processors: service ${cores(overload.serviceCpuUs)}, PostgreSQL ${cores(overload.serverCpuUs)}, load ${cores(overload.loadCpuUs)}.`,
  );
  console.log(
    `Memory: ${integer(restMb)} MB at rest, ${integer(overload.memoryMb)} MB at most, ${integer(afterMb)} MB after.\n`,
  );
  return judge(targetsOf({ peak, overload, restMb, afterMb, slowestProbeMs, before, after }));
}

await runOnStage(1, (stage, [load]) => measure(stage, load!));
