import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-trial-balance',
  audience: 'operator',
  path: '/operator/trial-balance',
  title: 'Trial balance',
  scopes: ['operator:read'],
  nav: { group: 'Books', order: 90, icon: 'scales', key: 'b' },
  search: searchOf([{ name: 'at', label: 'At', kind: 'time' }]),
  load: () => import('./page.tsx'),
});
