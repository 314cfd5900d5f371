import type { Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from './delivery.ts';

export const ENDPOINT_STATES = ['FAILING', 'DISABLED', 'DELIVERING'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** An endpoint of any customer, and how it has been answering. */
export type EndpointHealth = {
  readonly id: string;
  readonly customerId: string;
  readonly url: string;
  readonly state: EndpointState;
  readonly disabledReason: string | null;
  readonly failingSinceMs: bigint | null;
  readonly failures: number;
  readonly pending: number;
  readonly oldestPendingNs: Instant | null;
  /** Of the latest deliveries, newest first. */
  readonly latest: readonly DeliveryStatus[];
  /** Of all endpoints, by state. */
  readonly counts: Readonly<Record<EndpointState, number>>;
};

const STATUSES = DELIVERY_STATUSES.map((status) => `'${status}'`).join(', ');

/** Each status is an index in the order of time, so a few rows of each are enough to know the latest of all. */
const LATEST = `array (
  select d.status from unnest(array[${STATUSES}]) as s (status), lateral (
    select e.status, e.created_at_ns, e.id from webhook_deliveries e
    where e.endpoint_id = worst.id and e.status = s.status
    order by e.created_at_ns desc, e.id desc limit ${LIMITS.webhookHealthDeliveries}) as d
  order by d.created_at_ns desc, d.id desc limit ${LIMITS.webhookHealthDeliveries})`;

const SELECT = `
  with found as (
    select w.id, w.customer_id, w.url, w.disabled_reason, p.failing_since_ms, p.failures,
           case when not w.enabled then 'DISABLED' when p.failing_since_ms is null then 'DELIVERING' else 'FAILING' end as state
    from webhook_endpoints w join webhook_progress p on p.endpoint_id = w.id
    where w.deleted_at_ns is null limit ${LIMITS.backlogCountMax}),
  worst as (
    select * from found
    order by array_position(array['FAILING', 'DISABLED'], state) nulls last, failing_since_ms nulls last, id desc
    limit ${LIMITS.webhookHealthMax}),
  counts as (
    select json_build_object('FAILING', count(*) filter (where state = 'FAILING'),
                             'DISABLED', count(*) filter (where state = 'DISABLED'),
                             'DELIVERING', count(*) filter (where state = 'DELIVERING')) as counts from found)
  select worst.id, worst.customer_id as "customerId", worst.url, worst.state, worst.disabled_reason as "disabledReason",
         worst.failing_since_ms as "failingSinceMs", worst.failures, waiting.pending, waiting.oldest as "oldestPendingNs",
         ${LATEST} as latest, counts.counts
  from counts, worst, lateral (
    select count(*)::integer as pending, min(due.created_at_ns) as oldest from (
      select d.created_at_ns from webhook_deliveries d
      where d.endpoint_id = worst.id and d.status = 'PENDING'
      order by d.created_at_ns limit ${LIMITS.webhookHealthPendingMax}) as due) as waiting
  order by array_position(array['FAILING', 'DISABLED'], worst.state) nulls last, worst.failing_since_ms nulls last, worst.id desc`;

/** Those that fail the longest first, then those that are disabled. */
export const endpointHealth = (database: Queryable): Promise<EndpointHealth[]> =>
  database.query<EndpointHealth>(SELECT);
