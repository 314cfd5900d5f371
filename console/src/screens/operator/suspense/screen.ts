import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-suspense',
  audience: 'operator',
  path: '/operator/suspense',
  title: 'Suspense',
  scopes: ['operator:review'],
  nav: { group: 'Operations', order: 40, icon: 'inbox', key: 's' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
});
