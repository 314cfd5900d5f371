import type { components } from '@ferry/client';
import { words } from '~/lib/words.ts';
import { type AuditEntry, type TimelineItem, timelineItemOf, toneOf } from '~/ui/index.ts';
import type { Transfer } from '../transfers/page.tsx';

type Entry = components['schemas']['Entry'];
type Delivery = components['schemas']['WebhookDelivery'];

function ofDelivery({
  id,
  created_at: at,
  status,
  attempts,
  event_type: type,
  error,
}: Delivery): TimelineItem {
  return {
    id,
    at,
    title: `Webhook ${type}`,
    tone: toneOf(status),
    by: `${words(status).toLowerCase()} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    children: error,
  };
}

export type History = {
  readonly log: readonly AuditEntry[];
  readonly deliveries: readonly Delivery[];
};

export const itemsOf = ({ log, deliveries }: History): TimelineItem[] =>
  [...log.map(timelineItemOf), ...deliveries.map(ofDelivery)].sort((left, right) =>
    left.at < right.at ? -1 : 1,
  );

/** Entries of the profile that this transfer caused. */
export const isOf =
  ({ id, group_id: group }: Transfer) =>
  ({ cause }: Entry): boolean =>
    cause.id === id || cause.id === group;
