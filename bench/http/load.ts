/**
 * The load: a process of its own that keeps connections busy and measures what a client sees. Written on bare sockets,
 * because on a machine with few cores every microsecond that the load takes is one that the service does not get.
 *
 * Runs as a child process: takes a `LoadJob` as a message, answers with `LoadMessage`s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, type Connection, openConnection } from './connection.ts';
import { createFifo, type Fifo } from './fifo.ts';
import type { LoadJob, LoadMessage, LoadResult, Refused } from './job.ts';
import { type Stretch, slowShare, steadyTimes, type Timeline, watchPace } from './pace.ts';
import { requestsOf } from './requests.ts';

function tell(message: LoadMessage): void {
  process.send!(message);
}

function percentile(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function resultOf(times: readonly number[], durationMs: number, total: number, size: number): LoadResult {
  const sorted = Float64Array.from(times).sort();
  const count = times.length * size;
  return {
    count,
    perSecond: (count / durationMs) * 1_000,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    p999Ms: percentile(sorted, 0.999),
    total: total * size,
  };
}

const sortedTimes = (times: readonly number[]): Float64Array => Float64Array.from(times).sort();

function refusedOf(refused: Timeline, slow: readonly Stretch[]): Refused {
  const sorted = sortedTimes(refused.tookMs);
  return {
    count: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    steadyP99Ms: percentile(sortedTimes(steadyTimes(refused, slow)), 0.99),
  };
}

/** Sends what is due, every millisecond, whatever the service does; what finds no free connection waits, and its time runs. */
function sendAtRate(idle: Fifo<Connection>, waiting: Fifo<number>, ratePerSecond: number): () => void {
  const startedMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * ratePerSecond);
    for (; sent < due; sent += 1) {
      const dueMs = startedMs + ((sent + 1) / ratePerSecond) * 1_000;
      // The one that was idle for longest: the service closes connections that are not used.
      const connection = idle.shift();
      if (connection === undefined) waiting.push(dueMs);
      else connection.send(dueMs);
    }
  }, 1);
  return () => clearInterval(timer);
}

/** Resolves when every request that was sent is answered; rejects as soon as one fails. */
function run(job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const times: number[] = [];
    const dueTimes: number[] = [];
    const refused = { dueMs: [] as number[], tookMs: [] as number[] };
    const slowUntilNow = job.ratePerSecond === undefined ? undefined : watchPace();
    const idle = createFifo<Connection>();
    const waiting = createFifo<number>();
    let phase: 'warming up' | 'measuring' | 'finishing' = 'warming up';
    let total = 0;
    let open = 0;
    let fromMs = 0;
    let durationMs = 0;

    const finish = (connection: Connection): void => {
      connection.close();
      open -= 1;
      if (open > 0) return;
      const result = resultOf(times, durationMs, total, job.plan.size ?? 1);
      if (slowUntilNow === undefined) resolve(result);
      slowUntilNow?.().then((slow) => {
        const steady = steadyTimes({ dueMs: dueTimes, tookMs: times }, slow);
        const from = performance.timeOrigin + fromMs;
        const pace = {
          slowShare: slowShare(slow, [from, from + durationMs]),
          p99Ms: percentile(sortedTimes(steady), 0.99),
        };
        resolve({ ...result, pace, ...(job.mayRefuse && { refused: refusedOf(refused, slow) }) });
      }, reject);
    };
    const answered: Answered = (connection, dueMs, refusedSentMs) => {
      const nowMs = performance.now();
      if (refusedSentMs === undefined) total += 1;
      else if (phase === 'measuring') {
        refused.dueMs.push(performance.timeOrigin + refusedSentMs);
        refused.tookMs.push(nowMs - refusedSentMs);
      }
      if (phase === 'measuring' && refusedSentMs === undefined) {
        times.push(nowMs - dueMs);
        if (slowUntilNow !== undefined) dueTimes.push(performance.timeOrigin + dueMs);
      }
      if (phase === 'finishing') finish(connection);
      else if (job.ratePerSecond === undefined) connection.send(nowMs);
      else {
        const next = waiting.shift();
        if (next === undefined) idle.push(connection);
        else connection.send(next);
      }
    };

    const measure = async (): Promise<void> => {
      const requests = requestsOf(job.plan, `${job.host}:${job.port}`);
      const openings = Array.from({ length: job.connections }, () =>
        openConnection(job, requests, answered, reject),
      );
      const opened = await Promise.all(openings);
      open = opened.length;
      for (const connection of opened) idle.push(connection);
      let stopSending = (): void => undefined;
      if (job.ratePerSecond !== undefined) stopSending = sendAtRate(idle, waiting, job.ratePerSecond);
      else for (const connection of idle.takeAll()) connection.send(performance.now());
      await sleep(job.warmUpMs);
      phase = 'measuring';
      fromMs = performance.now();
      tell({ phase: 'measuring' });
      await sleep(job.measureMs);
      phase = 'finishing';
      durationMs = performance.now() - fromMs;
      tell({ phase: 'measured' });
      stopSending();
      for (const connection of idle.takeAll()) finish(connection);
    };
    measure().catch(reject);
  });
}

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ error: String(error) }),
  );
});
