import type { Filter } from '~/ui/search-of.ts';

/** Every filter of `listOpenWithdrawals`. */
export const FILTERS: readonly Filter[] = [
  {
    name: 'states',
    label: 'State',
    kind: 'choices',
    options: ['QUEUED', 'SUBMITTING', 'SUBMITTED', 'UNKNOWN'],
  },
  { name: 'rails', label: 'Rails', kind: 'texts' },
  { name: 'ids', label: 'Withdrawals', kind: 'texts' },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
