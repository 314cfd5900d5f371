import { formatInstant, type Instant } from '../kernel/instant.ts';

/** The place of an event in the feed: the position of its group, and its line there. */
export type Place = { readonly position: bigint; readonly line: number };

/** After every event of a position. */
export const LINE_MAX = 2_147_483_647;
export const FEED_START: Place = { position: 0n, line: LINE_MAX };

export function isAfter(one: Place, other: Place): boolean {
  return one.position > other.position || (one.position === other.position && one.line > other.line);
}

/** An event as it is read. */
export type FeedEvent = Place & {
  readonly id: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  readonly resource: object;
};

/** As users see it, in answers, in streams and in webhooks alike. */
export function presentEvent(event: Pick<FeedEvent, 'id' | 'type' | 'resourceId' | 'atNs' | 'resource'>) {
  return {
    id: event.id,
    type: event.type,
    created_at: formatInstant(event.atNs),
    resource_id: event.resourceId,
    data: event.resource as Record<string, unknown>,
  };
}

export type PresentedEvent = ReturnType<typeof presentEvent>;
