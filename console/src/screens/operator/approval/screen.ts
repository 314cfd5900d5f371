import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-approval',
  audience: 'operator',
  path: '/operator/approvals/$id',
  title: 'Approval',
  scopes: ['operator:read'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listOperatorApprovals({ limit: 1 });
    return items[0] && `/operator/approvals/${items[0].id}`;
  },
});
