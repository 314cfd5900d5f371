import { defineScreen, textOf } from '~/app/screen.ts';
import { type Filter, searchOf, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listWebhookDeliveries`. */
export const FILTERS: readonly Filter[] = [
  { name: 'statuses', label: 'Status', kind: 'choices', options: ['PENDING', 'DELIVERED', 'FAILED'] },
  ...timeFilters('created_at', 'Created'),
  { name: 'event_ids', label: 'Events', kind: 'texts' },
  { name: 'ids', label: 'Deliveries', kind: 'texts' },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];

export default defineScreen({
  id: 'webhook',
  audience: 'customer',
  path: '/webhooks/$id',
  title: 'Webhook endpoint',
  scopes: ['events:read_event'],
  search: (raw) => {
    const delivery = textOf(raw, 'delivery');
    return { ...searchOf(FILTERS)(raw), ...(delivery !== undefined && { delivery }) };
  },
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listWebhooks({ limit: 1 });
    return items[0] && `/webhooks/${items[0].id}`;
  },
});
