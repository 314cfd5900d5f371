import type { Clock } from '../kernel/clock.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { CLOCK_NS } from './clock.ts';
import type { Queryable } from './database.ts';

/**
 * The database server's clock as this node knows it between two readings: the last reading, and what a monotonic clock
 * counted since. All nodes agree on it within a round trip. The node's own wall clock is not looked at, so setting that
 * changes nothing. A step of the server's clock, and time that a suspended node did not count, are noticed with the
 * next reading.
 */
export type ServerClock = Clock & Pick<Repeated, 'start' | 'stop'>;

/** Reads the clock once before it resolves, and again and again once it is started. */
export async function createServerClock(
  database: Queryable,
  failed: (error: unknown) => void,
): Promise<ServerClock> {
  let offsetMs: number | undefined;

  async function read(): Promise<void> {
    const askedMs = performance.now();
    const [row] = await database.query<{ nowNs: Instant }>(`select ${CLOCK_NS} as "nowNs"`);
    const nowMs = Number(row!.nowNs) / 1e6;
    // The server read its clock somewhere between question and answer: what is known is moved only as far as this proves.
    const least = nowMs - performance.now();
    const most = nowMs - askedMs;
    offsetMs = offsetMs === undefined ? least : Math.min(Math.max(offsetMs, least), most);
  }

  await read();
  const preciseMs = (): number => offsetMs! + performance.now();
  const reading = repeat(
    LIMITS.serverClockReadMs,
    async () => {
      await read();
      return 'wait';
    },
    failed,
  );
  return {
    now: () => BigInt(Math.floor(preciseMs() * 1_000)) * 1_000n,
    nowMs: () => Math.floor(preciseMs()),
    ...reading,
  };
}
