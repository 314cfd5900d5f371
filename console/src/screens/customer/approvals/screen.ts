import { defineScreen } from '~/app/screen.ts';
import { type Filter, searchOf, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listApprovals`, with the actions of customers. */
export const FILTERS: readonly Filter[] = [
  {
    name: 'statuses',
    label: 'Status',
    kind: 'choices',
    options: ['PENDING', 'EXECUTED', 'FAILED', 'REJECTED', 'EXPIRED'],
  },
  {
    name: 'actions',
    label: 'Action',
    kind: 'choices',
    options: ['own_withdrawal.release', 'own_withdrawal.refuse', 'own_policy.change'],
  },
  ...timeFilters('created_at', 'Created'),
  { name: 'ids', label: 'Ids', kind: 'texts' },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];

export default defineScreen({
  id: 'approvals',
  audience: 'customer',
  path: '/approvals',
  title: 'Approvals',
  scopes: ['control:read_approval'],
  nav: { group: 'Control', order: 70, icon: 'shield', key: 'a' },
  search: searchOf(FILTERS),
  load: () => import('./page.tsx'),
});
