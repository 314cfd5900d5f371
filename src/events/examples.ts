import type { Static } from 'typebox';
import type { EventType } from '../kernel/event-types.ts';
import { EXAMPLE_AT } from '../kernel/examples.ts';
import type { EventPage, EventShape } from './schema.ts';

type Shown = Static<typeof EventShape>;

/** An event of the API reference, with the whole resource as its own operation shows it. */
export type EventExample = {
  readonly type: EventType;
  readonly resource: { readonly id: string; readonly [name: string]: unknown };
};

export function eventExample({ type, resource }: EventExample): Shown {
  return {
    id: '019bc0fd-8ba3-73e3-83e3-c9040e220001',
    type,
    created_at: EXAMPLE_AT,
    resource_id: resource.id,
    data: resource,
  };
}

export function eventPageExample(event: Shown): Static<typeof EventPage> {
  return { items: [event], next_page_cursor: 'p2bW3x5uQn0Yk8sT1vLhGg', has_more: false };
}
