import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listOperatorAuditLog`. */
export const FILTERS: readonly Filter[] = [
  { name: 'actions', label: 'Actions, with * for any text', kind: 'texts' },
  { name: 'resource_ids', label: 'Resources', kind: 'texts' },
  { name: 'actor_ids', label: 'Clients, people, workers', kind: 'texts' },
  { name: 'customer_id', label: 'Customer', kind: 'text' },
  { name: 'ids', label: 'Entries', kind: 'texts' },
  ...timeFilters('created_at', 'When'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
