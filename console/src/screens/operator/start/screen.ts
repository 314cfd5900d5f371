import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-start',
  audience: 'operator',
  path: '/operator',
  title: 'What waits',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 10, icon: 'inbox', key: 'w' },
  load: () => import('./page.tsx'),
});
