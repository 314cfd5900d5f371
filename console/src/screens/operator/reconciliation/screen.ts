import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-reconciliation',
  audience: 'operator',
  path: '/operator/reconciliation',
  title: 'Reconciliation',
  scopes: ['operator:read'],
  nav: { group: 'Books', order: 120, icon: 'check', key: 'c' },
  search: searchOf([
    { name: 'account', label: 'Account', kind: 'text' },
    { name: 'tab', label: 'Tab', kind: 'choice', options: ['items', 'balances'] },
  ]),
  load: () => import('./page.tsx'),
});
