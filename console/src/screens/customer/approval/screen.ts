import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'approval',
  audience: 'customer',
  path: '/approvals/$id',
  title: 'Request',
  scopes: ['control:read_approval'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listApprovals({ limit: 1 });
    return items[0] && `/approvals/${items[0].id}`;
  },
});
