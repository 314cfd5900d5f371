import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'settlement',
  audience: 'customer',
  path: '/settlements/$id',
  title: 'Settlement transaction',
  scopes: ['settlement:read_transaction'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listSettlementTransactions({ limit: 1 });
    return items[0] && `/settlements/${items[0].id}`;
  },
});
