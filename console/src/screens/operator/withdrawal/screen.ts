import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-withdrawal',
  audience: 'operator',
  path: '/operator/withdrawals/$id',
  title: 'Withdrawal',
  scopes: ['operator:read'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listOpenWithdrawals({ limit: 1 });
    return items[0] && `/operator/withdrawals/${items[0].transfer_id}`;
  },
});
