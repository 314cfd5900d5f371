import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-people',
  audience: 'operator',
  path: '/operator/people',
  title: 'People',
  scopes: ['people:read_person', 'operator:read'],
  nav: { group: 'Control', order: 85, icon: 'people', key: 'e' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
});
