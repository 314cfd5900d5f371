import { type Filter, timeFilters } from '~/ui/search-of.ts';

export const KINDS = [
  'OPENING_BALANCE',
  'MANUAL_DEPOSIT',
  'TREASURY_FUNDING',
  'TREASURY_PAYOUT',
  'SWEEP',
  'WRITE_OFF',
  'SUSPENSE_CREDIT',
  'SUSPENSE_RETURN',
  'WITHDRAWAL_RETURN',
  'CORRECTION',
  'REVERSAL',
] as const;

/** Every filter of `listJournalEntries`. */
export const FILTERS: readonly Filter[] = [
  {
    name: 'kinds',
    label: 'Kind',
    kind: 'choices',
    options: [...KINDS, 'WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION'],
  },
  { name: 'assets', label: 'Assets', kind: 'texts' },
  { name: 'profile_ids', label: 'Profiles', kind: 'texts' },
  { name: 'ids', label: 'Entries', kind: 'texts' },
  { name: 'ref_ids', label: 'References (ref_id)', kind: 'texts' },
  ...timeFilters('created_at', 'Booked'),
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];
/** `new` while an entry is being written. */
export const OPEN: Filter = { name: 'open', label: 'Open', kind: 'text' };
