import { defineScreen, textOf } from '~/app/screen.ts';
import { type Filter, searchOf, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listProfiles`. */
export const FILTERS: readonly Filter[] = [
  { name: 'nicknames', label: 'Nicknames', kind: 'texts' },
  ...timeFilters('created_at', 'Created'),
  { name: 'account_ids', label: 'Accounts', kind: 'texts' },
  { name: 'ids', label: 'Ids', kind: 'texts' },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];

export default defineScreen({
  id: 'profiles',
  audience: 'customer',
  path: '/profiles',
  title: 'Profiles',
  scopes: ['funding:read_profile'],
  nav: { group: 'Money', order: 40, icon: 'vault', key: 'p' },
  search: (raw) => ({
    ...searchOf(FILTERS)(raw),
    ...(textOf(raw, 'new') !== undefined && { new: 'yes' }),
  }),
  load: () => import('./page.tsx'),
});
