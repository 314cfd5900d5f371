import { type FeedPlace, presentEvent, type StoredEvent } from '../events/event.ts';
import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';

/** A pending delivery, in the memory of the node that has the lease. */
export type Delivery = FeedPlace & {
  readonly id: string;
  readonly eventId: string;
  readonly resourceId: string;
  attempts: number;
  firstTryMs: number | null;
  dueAtMs: number;
  /** The body, if it is in memory. */
  payload: string | undefined;
};

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export type SentRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>> };
export type Received = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly duration_ms: number;
};

/** A delivery as it is stored. */
export type StoredDelivery = {
  readonly id: string;
  readonly endpointId: string;
  readonly trigger: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly dueAtMs: bigint;
  readonly request: SentRequest | null;
  readonly response: Received | null;
  readonly error: string | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly eventId: string;
};

export type DeliveryWithEvent = StoredDelivery & { readonly event: StoredEvent };

/** A delivery that is due at once is stored as due at time zero; users see the time of its creation instead. */
function nextTry({ dueAtMs, createdAtNs }: StoredDelivery): Instant {
  const dueNs = dueAtMs * NS_PER_MS;
  return dueNs > createdAtNs ? dueNs : createdAtNs;
}

/** As users see it. */
export function presentDelivery(row: DeliveryWithEvent) {
  return {
    id: row.id,
    webhook_id: row.endpointId,
    event_id: row.eventId,
    event_type: row.event.type,
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    ...(row.status === 'PENDING' ? { next_attempt_at: formatInstant(nextTry(row)) } : {}),
    ...(row.request === null ? {} : { request: { ...row.request, body: presentEvent(row.event) } }),
    ...(row.response === null ? {} : { response: row.response }),
    ...(row.error === null ? {} : { error: row.error }),
    created_at: formatInstant(row.createdAtNs),
    updated_at: formatInstant(row.updatedAtNs),
  };
}
