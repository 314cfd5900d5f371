import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'profile',
  audience: 'customer',
  path: '/profiles/$id',
  title: 'Profile',
  scopes: ['funding:read_profile'],
  search: (raw) => {
    const asset = textOf(raw, 'asset');
    return asset === undefined ? {} : { asset };
  },
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listProfiles({ limit: 1, order: 'ASC' });
    return items[0] && `/profiles/${items[0].id}`;
  },
});
