import { defineScreen, textOf } from '~/app/screen.ts';
import { type Filter, searchOf, timeFilters } from '~/ui/search-of.ts';

/** Every filter that identities and accounts share. */
export const FILTERS: readonly Filter[] = [
  ...timeFilters('created_at', 'Created'),
  ...timeFilters('updated_at', 'Updated'),
  { name: 'ids', label: 'Ids', kind: 'texts' },
  { name: 'ref_ids', label: 'References (ref_id)', kind: 'texts' },
  { name: 'order_by', label: 'Order by', kind: 'choice', options: ['CREATED_AT', 'UPDATED_AT'] },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
export const ACCOUNT_FILTERS: readonly Filter[] = [
  { name: 'identity_ids', label: 'Identities', kind: 'texts' },
  ...FILTERS,
];

export default defineScreen({
  id: 'identities',
  audience: 'customer',
  path: '/identities',
  title: 'Identities and accounts',
  scopes: ['identity:read_identity', 'identity:read_account'],
  nav: { group: 'Parties', order: 60, icon: 'people', key: 'i' },
  search: (raw) => {
    const [tab, isNew] = [textOf(raw, 'tab'), textOf(raw, 'new')];
    return {
      ...searchOf(ACCOUNT_FILTERS)(raw),
      ...(tab === 'accounts' && { tab }),
      ...(isNew !== undefined && { new: 'yes' }),
    };
  },
  load: () => import('./page.tsx'),
  commands: () => [
    { id: 'accounts', label: 'Accounts and members', icon: 'people', run: '/identities?tab=accounts' },
  ],
});
