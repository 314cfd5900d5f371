import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-treasury',
  audience: 'operator',
  path: '/operator/treasury',
  title: 'Treasury',
  scopes: ['operator:read'],
  nav: { group: 'Books', order: 110, icon: 'vault', key: 'y' },
  load: () => import('./page.tsx'),
});
