import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { eventText, type FeedEvent, type FeedPlace, isAfter } from '../events/event.ts';
import { readFeed } from '../events/feed-store.ts';
import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { TEST_EVENT } from './event-types.ts';
import { type Breaker, DELAYS_MS_MAX, PROBE_MS_MAX } from './schedule.ts';
import { ENDPOINT_COLUMNS, openedEndpoint } from './store.ts';

/**
 * Which node delivers to which endpoint. Only the node that has the lease delivers, so deliveries stay in order without
 * locks. If the node crashes, the lease expires, and another node continues from what is recorded. Leases use the
 * database's clock, retries the clock that is passed in. A stored time that is further in the future than any delay allows
 * was written by a clock that was ahead, before the database failed over or its clock was corrected: it is ignored.
 */
const CLOCK_MS = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

export type Claim = { readonly endpointId: string; readonly customerId: string };

/** Leases endpoints that have work and no valid lease: of these customers, or of all. */
export function claimEndpoints(
  database: Queryable,
  options: {
    token: string;
    nowMs: number;
    leaseMs: number;
    limit: number;
    customerIds?: readonly string[] | undefined;
  },
): Promise<Claim[]> {
  const { token, nowMs, leaseMs, limit, customerIds } = options;
  return database.query<Claim>(
    `update webhook_progress p set lease_token = $1, leased_until_ms = ${CLOCK_MS} + $2::bigint
     from (
       select p.endpoint_id from webhook_progress p join webhook_endpoints w on w.id = p.endpoint_id
       where w.enabled and ($5::uuid[] is null or p.customer_id = any ($5::uuid[]))
         and (p.leased_until_ms < ${CLOCK_MS} or p.leased_until_ms > ${CLOCK_MS} + 2 * $2::bigint)
         and (p.probe_at_ms is null or p.probe_at_ms <= $3::bigint or p.probe_at_ms > $3::bigint + $6::bigint)
         and (p.more
              or exists (select from event_groups g where g.customer_id = p.customer_id and g.position > p.position)
              or exists (select from (select d.due_at_ms, d.attempts from webhook_deliveries d
                                      where d.endpoint_id = p.endpoint_id and d.status = 'PENDING'
                                      order by d.due_at_ms limit 1) as first
                         where p.probe_at_ms is not null or first.due_at_ms <= $3::bigint
                            or first.due_at_ms > $3::bigint + ($7::bigint[])[1 + least(first.attempts, $8::integer)]))
       limit $4 for update of p skip locked) as free
     where p.endpoint_id = free.endpoint_id
     returning p.endpoint_id as "endpointId", p.customer_id as "customerId"`,
    [
      token,
      leaseMs,
      nowMs,
      limit,
      customerIds === undefined ? null : plainArray(customerIds),
      PROBE_MS_MAX,
      plainArray(DELAYS_MS_MAX),
      DELAYS_MS_MAX.length - 1,
    ],
  );
}

export type Held = {
  readonly endpoint: Endpoint;
  readonly generation: bigint;
  readonly breaker: Breaker;
};

type HeldRow = Endpoint & {
  generation: bigint;
  failures: number;
  failingSinceMs: bigint | null;
  probeAtMs: bigint | null;
};

const milliseconds = (value: bigint | null): number | null => (value === null ? null : Number(value));

/**
 * Renews the lease, and returns the endpoint and its state; undefined when the lease is lost. The endpoint is locked, so that it is
 * never older than its generation: if its settings change at that moment, PostgreSQL would combine the new generation with the
 * endpoint before the change, and nothing would load it again.
 */
export async function renewLease(
  database: Queryable,
  endpointId: string,
  token: string,
  leaseMs: number,
): Promise<Held | undefined> {
  const [row] = await database.query<HeldRow>(
    `update webhook_progress p set leased_until_ms = ${CLOCK_MS} + $3::bigint
     from (select * from webhook_endpoints where id = $1 for share) as w
     where p.endpoint_id = $1 and p.lease_token = $2 and p.leased_until_ms >= ${CLOCK_MS}
     returning ${ENDPOINT_COLUMNS}, p.generation, p.failures, p.failing_since_ms as "failingSinceMs",
               p.probe_at_ms as "probeAtMs"`,
    [endpointId, token, leaseMs],
  );
  if (row === undefined) return undefined;
  const { generation, failures, failingSinceMs, probeAtMs, ...endpoint } = row;
  return {
    endpoint: openedEndpoint(database.vault(), endpoint),
    generation,
    breaker: {
      failures,
      failingSinceMs: milliseconds(failingSinceMs),
      probeAtMs: milliseconds(probeAtMs),
    },
  };
}

export async function releaseLease(database: Queryable, endpointId: string, token: string): Promise<void> {
  await database.query(
    `update webhook_progress set lease_token = null, leased_until_ms = 0
     where endpoint_id = $1 and lease_token = $2`,
    [endpointId, token],
  );
}

type PendingRow = Omit<Delivery, 'dueAtMs' | 'firstTryMs' | 'payload'> & {
  dueAtMs: bigint;
  firstTryMs: bigint | null;
};

/** Pending deliveries, oldest event first. There are hardly ever more than `webhookPendingMax`. */
export async function pendingDeliveries(database: Queryable, endpointId: string): Promise<Delivery[]> {
  const rows = await database.query<PendingRow>(
    `select id, event_id as "eventId", resource_id as "resourceId", position, line, attempts,
            first_try_ms as "firstTryMs", due_at_ms as "dueAtMs"
     from webhook_deliveries where endpoint_id = $1 and status = 'PENDING'
     order by position, line, created_at_ns, id`,
    [endpointId],
  );
  return rows.map((row) => ({
    ...row,
    dueAtMs: Number(row.dueAtMs),
    firstTryMs: milliseconds(row.firstTryMs),
    payload: undefined,
  }));
}

type Cursor = FeedPlace & {
  generation: bigint;
  replayFromNs: bigint | null;
  replayUntilPosition: bigint | null;
  replayUntilLine: number | null;
};

export type FanOut = { readonly deliveries: readonly Delivery[]; readonly hasMore: boolean };

/** Takes the next events of the feed for an endpoint: inserts deliveries and advances its place in one transaction. */
export function fanOut(
  database: Database,
  endpoint: Endpoint,
  options: { token: string; generation: bigint; nowMs: number; limit: number },
): Promise<FanOut | 'changed'> {
  const { token, generation, nowMs, limit } = options;
  return database.transaction(async (tx) => {
    const [cursor] = await tx.query<Cursor>(
      `select position, line, generation, replay_from_ns as "replayFromNs",
              replay_until_position as "replayUntilPosition", replay_until_line as "replayUntilLine"
       from webhook_progress where endpoint_id = $1 and lease_token = $2 for update`,
      [endpoint.id, token],
    );
    if (cursor === undefined || cursor.generation !== generation) return 'changed';
    const filter = { types: endpoint.eventTypes, notType: TEST_EVENT };
    const bounds = { limit, scanMax: LIMITS.eventScanMax };
    const page = await readFeed(tx, endpoint.customerId, filter, cursor, bounds);
    const replayUntil =
      cursor.replayUntilPosition === null
        ? undefined
        : { position: cursor.replayUntilPosition, line: cursor.replayUntilLine! };
    const isReplayed = (event: FeedPlace): boolean =>
      replayUntil !== undefined && !isAfter(event, replayUntil);
    const wanted = page.events.filter((event) => !isReplayed(event) || event.atNs >= cursor.replayFromNs!);
    const ids = wanted.map(newId);
    await Promise.all([
      insertDeliveries(tx, endpoint, wanted, ids, isReplayed, nowMs),
      tx.query(
        `update webhook_progress set position = $2, line = $3, more = $4,
                replay_from_ns = case when $5 then replay_from_ns end,
                replay_until_position = case when $5 then replay_until_position end,
                replay_until_line = case when $5 then replay_until_line end
         where endpoint_id = $1`,
        [endpoint.id, page.next.position, page.next.line, page.hasMore, isReplayed(page.next)],
      ),
    ]);
    const deliveries = wanted.map((event, index): Delivery => {
      const { id: eventId, resourceId, position, line } = event;
      const fresh = { attempts: 0, firstTryMs: null, dueAtMs: nowMs, payload: eventText(event) };
      return { id: ids[index]!, eventId, resourceId, position, line, ...fresh };
    });
    return { deliveries, hasMore: page.hasMore };
  });
}

async function insertDeliveries(
  tx: Queryable,
  endpoint: Endpoint,
  events: readonly FeedEvent[],
  ids: readonly string[],
  isReplayed: (event: FeedPlace) => boolean,
  nowMs: number,
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    `insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id,
                                     trigger, status, due_at_ms, created_at_ns, updated_at_ns)
     select row.id, $1::uuid, $2::uuid, event_id, event_at_ns, position, line, resource_id, trigger, 'PENDING',
            $3::bigint, clock.ns, clock.ns
     from unnest($4::uuid[], $5::uuid[], $6::bigint[], $7::integer[], $8::uuid[], $9::text[], $10::bigint[])
          as row (id, event_id, position, line, resource_id, trigger, event_at_ns), (select ${CLOCK_NS} as ns) as clock`,
    [
      endpoint.id,
      endpoint.customerId,
      nowMs,
      plainArray(ids),
      ...columns(
        events.map((event) => ({ ...event, trigger: isReplayed(event) ? 'REPLAY' : 'EVENT' })),
        {
          id: 'uuid',
          position: 'bigint',
          line: 'integer',
          resourceId: 'uuid',
          trigger: 'text',
          atNs: 'bigint',
        },
      ),
    ],
  );
}
