import { hash } from 'node:crypto';
import { isId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';

/** The place of an event in the feed: the position of its group, and its line in the group. */
export type FeedPlace = { readonly position: bigint; readonly line: number };

/** Greater than every line: a place with it is after all events of its position. */
export const LINE_MAX = 2_147_483_647;
export const FEED_START: FeedPlace = { position: 0n, line: LINE_MAX };

export function isAfter(one: FeedPlace, other: FeedPlace): boolean {
  return one.position > other.position || (one.position === other.position && one.line > other.line);
}

/**
 * The id of an event is that of the batch that wrote it, with the line in the last four digits. Lines are counted through
 * the whole batch, across customers. So an event is found through its batch, without a separate index.
 */
export function eventId(batchId: string, line: number): string {
  return batchId.slice(0, -4) + line.toString(16).padStart(4, '0');
}

export function batchOf(id: string): string {
  return `${id.slice(0, -4)}0000`;
}

export function lineOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16);
}

/** The index of resources has uuids. Other ids, such as those of clients, are found by a uuid that is made of their digest. */
export function indexId(resourceId: string): string {
  if (isId(resourceId)) return resourceId;
  const digest = hash('sha256', resourceId);
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => digest.slice(from, to))
    .join('-');
}

/** An event as it is stored. The resource is JSON text. */
export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  readonly resource: string;
};

/** An event with its place in the feed. */
export type FeedEvent = FeedPlace & StoredEvent;

/** As users see it in answers, streams and webhooks, as JSON. The resource is stored as JSON; the rest needs no escaping. */
export function eventText(event: StoredEvent): string {
  return `{"id":"${event.id}","type":"${event.type}","created_at":"${formatInstant(event.atNs)}","resource_id":"${event.resourceId}","data":${event.resource}}`;
}

export type PresentedEvent = {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly resource_id: string;
  readonly data: Record<string, unknown>;
};

/** The same as an object, to be part of another answer. */
export function presentEvent(event: StoredEvent): PresentedEvent {
  return JSON.parse(eventText(event)) as PresentedEvent;
}
