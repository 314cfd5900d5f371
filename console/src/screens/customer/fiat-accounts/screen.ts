import { defineScreen, textOf } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS } from './filters.ts';

export default defineScreen({
  id: 'fiat-accounts',
  audience: 'customer',
  path: '/fiat-accounts',
  title: 'Fiat accounts',
  scopes: ['transfer:read_fiat_account'],
  nav: { group: 'Money', order: 50, icon: 'bank', key: 'f' },
  search: (raw) => {
    const open = textOf(raw, 'open');
    return { ...searchOf(FILTERS)(raw), ...(open !== undefined && { open }) };
  },
  load: () => import('./page.tsx'),
});
