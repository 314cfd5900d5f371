import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-webhooks',
  audience: 'operator',
  path: '/operator/webhooks',
  title: 'Webhooks',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 54, icon: 'webhook' },
  load: () => import('./page.tsx'),
});
