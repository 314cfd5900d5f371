import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listSuspenseDeposits`, and the deposit that is open beside the list. */
export const FILTERS: readonly Filter[] = [
  { name: 'statuses', label: 'Status', kind: 'choices', options: ['OPEN', 'CREDITED', 'RETURNED'] },
  { name: 'ids', label: 'Deposits', kind: 'texts' },
  ...timeFilters('created_at', 'Recorded'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
