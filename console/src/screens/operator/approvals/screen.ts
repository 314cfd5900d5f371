import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS } from './filters.ts';

export default defineScreen({
  id: 'operator-approvals',
  audience: 'operator',
  path: '/operator/approvals',
  title: 'Approvals',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 20, icon: 'shield', key: 'a' },
  search: searchOf(FILTERS),
  load: () => import('./page.tsx'),
  commands: () => [
    {
      id: 'approvals-pending',
      label: 'Approvals that wait',
      icon: 'shield',
      run: '/operator/approvals?statuses=PENDING',
    },
  ],
});
