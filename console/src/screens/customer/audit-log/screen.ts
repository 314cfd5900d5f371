import { defineScreen, textOf } from '~/app/screen.ts';
import { type Filter, searchOf, timeFilters } from '~/ui/search-of.ts';

/** Every filter of `listAuditLog`. */
export const FILTERS: readonly Filter[] = [
  { name: 'actions', label: 'Actions (* for any text)', kind: 'texts' },
  { name: 'actor_ids', label: 'Actors', kind: 'texts' },
  { name: 'resource_ids', label: 'Resources', kind: 'texts' },
  ...timeFilters('created_at', 'At'),
  { name: 'ids', label: 'Entries', kind: 'texts' },
  { name: 'order', label: 'Order', kind: 'choice', options: ['DESC', 'ASC'] },
];

export default defineScreen({
  id: 'audit-log',
  audience: 'customer',
  path: '/audit-log',
  title: 'Audit log',
  scopes: ['control:read_audit_log'],
  nav: { group: 'Control', order: 80, icon: 'log', key: 'l' },
  search: (raw) => {
    const entry = textOf(raw, 'entry');
    return { ...searchOf(FILTERS)(raw), ...(entry !== undefined && { entry }) };
  },
  load: () => import('./page.tsx'),
});
