import { type Filter, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listOperatorApprovals`. */
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
    options: [
      'journal_entry.book',
      'withdrawal.resolve',
      'withdrawal.cancel',
      'withdrawal.release',
      'withdrawal.refuse',
      'suspense_deposit.credit',
      'fiat_account.approve',
      'fiat_account.reject',
      'policy.change',
      'freeze.create',
      'freeze.lift',
    ],
  },
  { name: 'ids', label: 'Requests', kind: 'texts' },
  ...timeFilters('created_at', 'Proposed'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
