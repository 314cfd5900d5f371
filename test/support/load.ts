import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { until } from './until.ts';

/** Writers that move one cent at a time, each request with a new ref_id, and record every answer. */
export type Load = {
  /** ref_ids answered with 200: each must exist once. */
  readonly acknowledged: Set<string>;
  /** ref_ids answered with 503, or not at all: each may exist at most once. */
  readonly undecided: Set<string>;
  readonly statuses: Map<number, number>;
  /** Waits for that many more acknowledgements. */
  untilMore(count: number): Promise<void>;
  stop(): Promise<void>;
};

export function startLoad(options: {
  url: string;
  token: string;
  from: string;
  to: string;
  writers: number;
  prefix: string;
  /** Every second request has no ref_id, and is recognized by its metadata. */
  someWithoutRefId?: boolean;
  /** Every second request is an atomic bulk of so many transfers. */
  bulkOf?: number;
  /** How long a writer pauses after each request: a test that runs for long must not keep both cores busy. */
  pauseMs?: number;
}): Load {
  const { url, token, from, to, writers, prefix, pauseMs, bulkOf, someWithoutRefId = false } = options;
  const acknowledged = new Set<string>();
  const undecided = new Set<string>();
  const statuses = new Map<number, number>();
  const state = { stopped: false };

  async function write(writer: number): Promise<void> {
    for (let count = 0; !state.stopped; count += 1) {
      const isBulk = bulkOf !== undefined && count % 2 === 1;
      const refIds = Array.from(
        { length: isBulk ? bulkOf : 1 },
        (_, index) => `${prefix}-${writer}-${count}${isBulk ? `+${index}` : ''}`,
      );
      const addTo = (set: Set<string>): void => {
        for (const refId of refIds) set.add(refId);
      };
      const transfers = refIds.map((refId) => ({
        from_profile_id: from,
        to_profile_id: to,
        asset: 'USD',
        amount: '0.01',
        ...(someWithoutRefId && count % 2 === 1 ? { metadata: { load: refId } } : { ref_id: refId }),
      }));
      try {
        const response = await fetch(`${url}/v2/transfer/platform${isBulk ? '/bulk' : ''}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(isBulk ? { transfers, atomic: true } : transfers[0]),
        });
        await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status === 200) {
          addTo(acknowledged);
          if (pauseMs !== undefined) await sleep(pauseMs);
        } else {
          addTo(undecided);
          await sleep(20);
        }
      } catch {
        addTo(undecided);
        await sleep(20);
      }
    }
  }

  const running = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return {
    acknowledged,
    undecided,
    statuses,
    async untilMore(count) {
      const wanted = acknowledged.size + count;
      await until(`${count} more are acknowledged`, () => acknowledged.size >= wanted, 2);
    },
    async stop() {
      state.stopped = true;
      await running;
    },
  };
}

/** The number of debits for each ref_id of the load, or for what is in its place in the metadata. */
export async function foundRefIds(database: Database): Promise<Map<string, number>> {
  const rows = await database.query<{ ref_id: string; times: number }>(
    `select coalesce(ref_id, metadata ->> 'load') as ref_id, count(*)::integer as times from transfers
     where direction = 'DEBIT' and (ref_id is not null or metadata ? 'load') group by 1`,
  );
  return new Map(rows.map((row) => [row.ref_id, row.times]));
}
