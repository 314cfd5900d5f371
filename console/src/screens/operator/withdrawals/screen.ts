import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS } from './filters.ts';

export default defineScreen({
  id: 'operator-withdrawals',
  audience: 'operator',
  path: '/operator/withdrawals',
  title: 'Open withdrawals',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 30, icon: 'out', key: 'o' },
  search: searchOf(FILTERS),
  load: () => import('./page.tsx'),
  commands: () => [
    {
      id: 'withdrawals-unknown',
      label: 'Withdrawals with an unknown outcome',
      icon: 'alert',
      run: '/operator/withdrawals?states=UNKNOWN',
    },
  ],
});
