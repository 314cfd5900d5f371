import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { selectList, type Wanted } from '../database/list.ts';
import { createParameters } from '../database/select.ts';
import { eventText, type StoredEvent } from '../events/event.ts';
import { placeBefore } from '../events/feed-store.ts';
import { findEvents } from '../events/group-store.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type DeliveryWithEvent,
  type Received,
  type SentRequest,
  type StoredDelivery,
} from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import type { Breaker } from './schedule.ts';

/** The outcome of one attempt. */
export type Outcome = {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly token: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly firstTryMs: number | null;
  readonly dueAtMs: number;
  /** Null when nothing could be sent. */
  readonly request: SentRequest | null;
  readonly response: Received | null;
  readonly error: string | null;
  readonly breaker: Breaker;
  /** The receiver answers again: all its pending deliveries become due. */
  readonly isBack: boolean;
};

/** What was sent and received is sealed: a receiver may answer with the event that it got. */
const requestPlace = (deliveryId: string): string => `webhook_deliveries.request:${deliveryId}`;
const responsePlace = (deliveryId: string): string => `webhook_deliveries.response:${deliveryId}`;

export const olderDeliveries = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'webhook_deliveries',
    key: { name: 'id', type: 'uuid' },
    columns: ['request', 'response'],
  });

function opened({ vault }: Queryable, row: StoredDelivery): StoredDelivery {
  return {
    ...row,
    request: openJson(vault(), row.request, requestPlace(row.id)),
    response: openJson(vault(), row.response, responsePlace(row.id)),
  };
}

/** Records outcomes of several endpoints, set-wise. Returns the ids of the recorded deliveries: not those whose lease is lost. */
export async function recordOutcomes(database: Database, outcomes: readonly Outcome[]): Promise<Set<string>> {
  const last = [...new Map(outcomes.map((one) => [one.endpointId, one])).values()];
  const back = outcomes.filter((one) => one.isBack);
  return database.transaction(async (tx) => {
    const [rows] = await Promise.all([
      tx.query<{ id: string }>(
        `update webhook_deliveries d
         set status = row.status, attempts = row.attempts, first_try_ms = row.first_try_ms, due_at_ms = row.due_at_ms,
             request = row.request::jsonb, response = row.response::jsonb, error = row.error, updated_at_ns = ${CLOCK_NS}
         from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[],
                     $8::text[], $9::text[], $10::text[])
              as row (id, endpoint_id, token, status, attempts, first_try_ms, due_at_ms, request, response, error)
         join webhook_progress p on p.endpoint_id = row.endpoint_id and p.lease_token = row.token
         where d.id = row.id and d.status = 'PENDING' returning d.id`,
        columns(outcomes, {
          deliveryId: 'uuid',
          endpointId: 'uuid',
          token: 'uuid',
          status: 'text',
          attempts: 'integer',
          firstTryMs: 'bigint',
          dueAtMs: 'bigint',
          request: ({ deliveryId, request }) => sealJson(tx.vault(), request, requestPlace(deliveryId)),
          response: ({ deliveryId, response }) => sealJson(tx.vault(), response, responsePlace(deliveryId)),
          error: 'text',
        }),
      ),
      tx.query(
        `update webhook_progress p
         set failures = row.failures, failing_since_ms = row.failing_since_ms, probe_at_ms = row.probe_at_ms
         from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::bigint[], $5::bigint[])
              as row (endpoint_id, token, failures, failing_since_ms, probe_at_ms)
         where p.endpoint_id = row.endpoint_id and p.lease_token = row.token
           and (p.failures, p.failing_since_ms, p.probe_at_ms)
               is distinct from (row.failures, row.failing_since_ms, row.probe_at_ms)`,
        columns(
          last.map(({ endpointId, token, breaker }) => ({ endpointId, token, ...breaker })),
          {
            endpointId: 'uuid',
            token: 'uuid',
            failures: 'integer',
            failingSinceMs: 'bigint',
            probeAtMs: 'bigint',
          },
        ),
      ),
      back.length === 0
        ? []
        : tx.query(
            `update webhook_deliveries d set due_at_ms = 0
             where d.endpoint_id = any ($1::uuid[]) and d.status = 'PENDING'`,
            [plainArray(back.map((one) => one.endpointId))],
          ),
    ]);
    return new Set(rows.map((row) => row.id));
  });
}

const COLUMNS = `d.id, d.customer_id as "customerId", d.endpoint_id as "endpointId", d.trigger, d.status, d.attempts, d.due_at_ms as "dueAtMs",
  d.request, d.response, d.error, d.created_at_ns as "createdAtNs", d.updated_at_ns as "updatedAtNs",
  d.event_id as "eventId"`;

const FILTERS = {
  ids: { column: 'd.id', type: 'uuid', few: true },
  event_ids: { column: 'd.event_id', type: 'uuid', few: true },
  statuses: { column: 'd.status', type: 'text', all: DELIVERY_STATUSES },
} as const;
type FilterName = keyof typeof FILTERS;

type Owner = Pick<Endpoint, 'id' | 'customerId'>;

async function withEvents(
  database: Queryable,
  { customerId }: Owner,
  rows: readonly StoredDelivery[],
): Promise<DeliveryWithEvent[]> {
  const ids = rows.map((row) => row.eventId);
  const events = await findEvents(database, customerId, ids);
  return rows.map((row) => ({ ...opened(database, row), event: found(events, row.eventId) }));
}

/** Events are never deleted: a missing one is a bug. */
function found<Event extends StoredEvent>(events: ReadonlyMap<string, Event>, id: string): Event {
  const event = events.get(id);
  if (event === undefined) throw new Error(`the event ${id} of a delivery is missing`);
  return event;
}

/** The body that is signed and sent: the event as the API shows it. */
export async function eventPayload(
  database: Queryable,
  customerId: string,
  eventId: string,
): Promise<string> {
  return eventText(found(await findEvents(database, customerId, [eventId]), eventId));
}

export async function listDeliveries(
  database: Queryable,
  endpoint: Owner,
  filters: Wanted<FilterName>,
  page: Page,
): Promise<Found<DeliveryWithEvent>> {
  const parameters = createParameters();
  const { rows, ...rest } = await selectList<StoredDelivery, FilterName>(database, page, {
    table: 'webhook_deliveries',
    alias: 'd',
    columns: COLUMNS,
    owner: 'd.customer_id as "customerId"',
    parameters,
    own: `d.endpoint_id = ${parameters.add(endpoint.id)}`,
    filters: FILTERS,
    wanted: filters,
  });
  return { ...rest, rows: await withEvents(database, endpoint, rows) };
}

export async function findDelivery(
  database: Queryable,
  endpoint: Owner,
  id: string,
): Promise<DeliveryWithEvent | undefined> {
  const rows = await database.query<StoredDelivery>(
    `select ${COLUMNS} from webhook_deliveries d where d.id = $1 and d.endpoint_id = $2`,
    [id, endpoint.id],
  );
  return (await withEvents(database, endpoint, rows))[0];
}

/** Sends the event of a delivery again, at once. Returns the id of the new delivery. */
export async function replayDelivery(database: Queryable, deliveryId: string): Promise<string> {
  const id = newId();
  await database.query(
    `with made as (
       insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id,
                                       trigger, status, due_at_ms, created_at_ns, updated_at_ns)
       select $2, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id, 'REPLAY', 'PENDING', 0,
              ${CLOCK_NS}, ${CLOCK_NS}
       from webhook_deliveries where id = $1 returning endpoint_id)
     update webhook_progress p
     set generation = p.generation + 1, probe_at_ms = case when p.probe_at_ms is not null then 0 end
     from made where p.endpoint_id = made.endpoint_id`,
    [deliveryId, id],
  );
  return id;
}

/**
 * Sends all events from a time on again: moves the endpoint's place in the feed back to it. Pending deliveries of such
 * events are deleted, since the events come again.
 */
export function replaySince(database: Database, endpointId: string, since: Instant): Promise<void> {
  return database.transaction(async (tx) => {
    const start = await placeBefore(tx, since);
    await tx.query(
      `with rewound as (
         update webhook_progress p
         set position = least(p.position, $2::bigint),
             line = case when p.position <= $2::bigint then p.line else $3::integer end,
             more = true, replay_from_ns = least(p.replay_from_ns, $4::bigint), generation = p.generation + 1,
             probe_at_ms = case when p.probe_at_ms is not null then 0 end,
             replay_until_position = greatest(p.replay_until_position, p.position),
             replay_until_line = case when p.replay_until_position >= p.position then p.replay_until_line
                                      else p.line end
         where p.endpoint_id = $1 returning p.endpoint_id)
       delete from webhook_deliveries d using rewound
       where d.endpoint_id = rewound.endpoint_id and d.status = 'PENDING' and d.event_at_ns >= $4::bigint`,
      [endpointId, start.position, start.line, since],
    );
  });
}

/** The delivery of a test event: recorded before it is sent, and never retried. */
export async function insertTestDelivery(
  database: Queryable,
  endpoint: Owner,
  event: StoredEvent,
): Promise<string> {
  const id = newId();
  await database.query(
    `insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id,
                                     trigger, status, due_at_ms, created_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5, 0, 0, $2, 'TEST', 'FAILED', 0, ${CLOCK_NS}, ${CLOCK_NS})`,
    [id, endpoint.id, endpoint.customerId, event.id, event.atNs],
  );
  return id;
}

export async function endTestDelivery(
  database: Queryable,
  id: string,
  outcome: Pick<Outcome, 'status' | 'request' | 'response' | 'error'>,
): Promise<void> {
  const { status, request, response, error } = outcome;
  await database.query(
    `update webhook_deliveries set status = $2, attempts = 1, request = $3::text::jsonb, response = $4::text::jsonb,
            error = $5, updated_at_ns = ${CLOCK_NS} where id = $1`,
    [
      id,
      status,
      sealJson(database.vault(), request, requestPlace(id)),
      sealJson(database.vault(), response, responsePlace(id)),
      error,
    ],
  );
}

/** Deletes the pending deliveries of deleted endpoints. */
export async function forgetDeleted(database: Queryable): Promise<void> {
  await database.query(
    `delete from webhook_deliveries d using webhook_endpoints w
     where w.deleted_at_ns is not null and d.endpoint_id = w.id and d.status = 'PENDING'`,
  );
}

/** Deletes deliveries that ended long ago. Returns how many. */
export async function forgetDeliveries(database: Queryable, ageMs: number, rowsMax: number): Promise<number> {
  const rows = await database.query(
    `delete from webhook_deliveries where id = any (array (
       select id from webhook_deliveries
       where status <> 'PENDING' and updated_at_ns < ${CLOCK_NS} - $1::bigint * 1000000 limit $2))
     returning id`,
    [ageMs, rowsMax],
  );
  return rows.length;
}
