import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-settlement-network',
  audience: 'operator',
  path: '/operator/settlement-network',
  title: 'Settlement network',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 56, icon: 'settlement' },
  load: () => import('./page.tsx'),
});
