import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'overview',
  audience: 'customer',
  path: '/overview',
  title: 'Overview',
  scopes: ['funding:read_profile', 'transfer:read_transfer'],
  nav: { group: 'Money', order: 10, icon: 'overview', key: 'o' },
  search: (raw) =>
    Object.fromEntries(
      ['profile', 'asset'].flatMap((name) => {
        const value = textOf(raw, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  load: () => import('./page.tsx'),
});
