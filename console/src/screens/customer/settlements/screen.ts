import { defineScreen, textOf } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS } from './filters.ts';

export default defineScreen({
  id: 'settlements',
  audience: 'customer',
  path: '/settlements',
  title: 'Settlement',
  scopes: ['settlement:read_transaction'],
  nav: { group: 'Money', order: 30, icon: 'settlement', key: 's' },
  search: (raw) => {
    const view = textOf(raw, 'view');
    return { ...searchOf(FILTERS)(raw), ...(view === 'list' && { view }) };
  },
  load: () => import('./page.tsx'),
});
