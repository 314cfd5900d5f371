import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'transfer',
  audience: 'customer',
  path: '/transfers/$id',
  title: 'Transfer',
  scopes: ['transfer:read_transfer'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listTransfers({ limit: 1 });
    return items[0] && `/transfers/${items[0].id}`;
  },
});
