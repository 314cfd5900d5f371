import type { Clock } from '../kernel/clock.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { CLOCK_NS } from './clock.ts';
import type { Queryable } from './database.ts';

/**
 * The clock of the database server, as estimated by this node: the last reading plus the monotonic time since then. All
 * nodes agree within a round trip. The node's own wall clock is not used, so setting it has no effect. If the server's
 * clock is stepped, or the node was suspended, the next reading corrects the estimate.
 */
export type ServerClock = Clock & Pick<Repeated, 'start' | 'stop'>;

/** Reads the clock once before it resolves, and repeatedly once it is started. */
export async function createServerClock(
  database: Queryable,
  failed: (error: unknown) => void,
): Promise<ServerClock> {
  let offsetMs: number | undefined;

  async function read(): Promise<void> {
    const askedMs = performance.now();
    const [row] = await database.query<{ nowNs: Instant }>(`select ${CLOCK_NS} as "nowNs"`);
    const nowMs = Number(row!.nowNs) / 1e6;
    // The server read its clock at some time between request and answer: move the estimate only as far as that proves.
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
