import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listSettlementTransactions`. */
export const FILTERS: readonly Filter[] = [
  {
    name: 'statuses',
    label: 'Status',
    kind: 'choices',
    options: ['PENDING', 'AFFIRMED', 'SETTLED', 'EXPIRED', 'CANCELLED'],
  },
  ...timeFilters('created_at', 'Created'),
  ...timeFilters('updated_at', 'Updated'),
  { name: 'profile_ids', label: 'Profiles', kind: 'texts' },
  { name: 'ids', label: 'Ids', kind: 'texts' },
  { name: 'ref_ids', label: 'References (ref_id)', kind: 'texts' },
  { name: 'order_by', label: 'Order by', kind: 'choice', options: ['CREATED_AT', 'UPDATED_AT'] },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
