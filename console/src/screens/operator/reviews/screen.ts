import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-reviews',
  audience: 'operator',
  path: '/operator/reviews',
  title: 'Fiat accounts to review',
  scopes: ['operator:review'],
  nav: { group: 'Operations', order: 45, icon: 'bank' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
});
