import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'access',
  audience: 'customer',
  path: '/access',
  title: 'Access',
  nav: { group: 'Control', order: 82, icon: 'key' },
  load: () => import('./page.tsx'),
});
