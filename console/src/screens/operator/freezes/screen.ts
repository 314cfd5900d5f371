import { defineScreen } from '~/app/screen.ts';
import { may } from '~/app/session.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-freezes',
  audience: 'operator',
  path: '/operator/freezes',
  title: 'Freezes',
  scopes: ['operator:read'],
  nav: { group: 'Control', order: 60, icon: 'snow', key: 'f' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
  commands: ({ me }) =>
    may(me, 'operator:admin')
      ? [{ id: 'freeze', label: 'Freeze something…', icon: 'snow', run: '/operator/freezes?open=new' }]
      : [],
});
