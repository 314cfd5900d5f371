import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'webhooks',
  audience: 'customer',
  path: '/webhooks',
  title: 'Webhooks',
  scopes: ['events:read_event'],
  nav: { group: 'Developers', order: 90, icon: 'webhook', key: 'h' },
  search: (raw) => (textOf(raw, 'new') === undefined ? {} : { new: 'yes' }),
  load: () => import('./page.tsx'),
});
