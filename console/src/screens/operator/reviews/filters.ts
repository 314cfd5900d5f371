import { type Filter, timeFilters } from '~/ui/search-of.ts';

export const FILTERS: readonly Filter[] = [
  { name: 'statuses', label: 'Status', kind: 'choices', options: ['PENDING', 'APPROVED', 'REJECTED'] },
  ...timeFilters('created_at', 'Created'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
