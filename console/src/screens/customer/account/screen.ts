import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'account',
  audience: 'customer',
  path: '/accounts/$id',
  title: 'Account',
  scopes: ['identity:read_account'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listAccounts({ limit: 1 });
    return items[0] && `/accounts/${items[0].id}`;
  },
});
