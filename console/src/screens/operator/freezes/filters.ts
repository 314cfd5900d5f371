import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listFreezes`. */
export const FILTERS: readonly Filter[] = [
  { name: 'statuses', label: 'Status', kind: 'choices', options: ['IN_FORCE', 'LIFTED'] },
  {
    name: 'scopes',
    label: 'What is frozen',
    kind: 'choices',
    options: ['PLATFORM', 'CUSTOMER', 'IDENTITY', 'PROFILE'],
  },
  ...timeFilters('created_at', 'Frozen'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
/** The freeze that is open beside the list; `new` to make one. */
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
