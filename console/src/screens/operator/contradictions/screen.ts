import { defineScreen } from '~/app/screen.ts';
import { searchOf, timeFilters } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-contradictions',
  audience: 'operator',
  path: '/operator/contradictions',
  title: 'Contradictions',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 55, icon: 'scales' },
  search: searchOf(timeFilters('created_at', 'Reported')),
  load: () => import('./page.tsx'),
});
