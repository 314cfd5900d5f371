import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-rails',
  audience: 'operator',
  path: '/operator/rails',
  title: 'Rails',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 50, icon: 'events', key: 'r' },
  load: () => import('./page.tsx'),
});
