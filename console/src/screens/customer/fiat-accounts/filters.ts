import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listFiatAccounts`. */
export const FILTERS: readonly Filter[] = [
  { name: 'statuses', label: 'Status', kind: 'choices', options: ['PENDING', 'APPROVED', 'REJECTED'] },
  ...timeFilters('created_at', 'Created'),
  ...timeFilters('updated_at', 'Updated'),
  { name: 'ids', label: 'Ids', kind: 'texts' },
  { name: 'ref_ids', label: 'References (ref_id)', kind: 'texts' },
  { name: 'identity_ids', label: 'Identities', kind: 'texts' },
  { name: 'account_ids', label: 'Accounts', kind: 'texts' },
  { name: 'order_by', label: 'Order by', kind: 'choice', options: ['CREATED_AT', 'UPDATED_AT'] },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
