import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-audit-log',
  audience: 'operator',
  path: '/operator/audit-log',
  title: 'Audit log',
  scopes: ['operator:read'],
  nav: { group: 'Control', order: 80, icon: 'log', key: 'l' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
});
