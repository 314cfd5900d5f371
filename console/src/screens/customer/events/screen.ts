import { defineScreen, textOf } from '~/app/screen.ts';
import { type Filter, searchOf } from '~/ui/search-of.ts';

/** Filters of `listEvents`. The feed goes on, so it has no end. */
export const FILTERS: readonly Filter[] = [
  { name: 'types', label: 'Types', kind: 'texts' },
  { name: 'resource_ids', label: 'Resources', kind: 'texts' },
];

export default defineScreen({
  id: 'events',
  audience: 'customer',
  path: '/events',
  title: 'Events',
  scopes: ['events:read_event'],
  nav: { group: 'Developers', order: 85, icon: 'events', key: 'e' },
  search: (raw) => {
    const event = textOf(raw, 'event');
    return { ...searchOf(FILTERS)(raw), ...(event !== undefined && { event }) };
  },
  load: () => import('./page.tsx'),
});
