import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'statements',
  audience: 'customer',
  path: '/statements',
  title: 'Statements',
  scopes: ['funding:read_profile'],
  nav: { group: 'Money', order: 45, icon: 'journal', key: 'm' },
  search: (raw) =>
    Object.fromEntries(
      ['profile', 'asset', 'month'].flatMap((name) => {
        const value = textOf(raw, name);
        return value === undefined || (name === 'month' && !/^\d{4}-\d{2}$/.test(value))
          ? []
          : [[name, value]];
      }),
    ),
  load: () => import('./page.tsx'),
});
