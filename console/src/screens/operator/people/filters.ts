import { type Filter, timeFilters } from '~/ui/search-of.ts';

export const FILTERS: readonly Filter[] = [
  { name: 'customer_id', label: 'Customer', kind: 'text' },
  { name: 'ids', label: 'People', kind: 'texts' },
  ...timeFilters('created_at', 'Added'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
/** The person that is open beside the list; `new` to add one. */
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
