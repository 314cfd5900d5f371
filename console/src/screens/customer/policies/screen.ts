import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'policies',
  audience: 'customer',
  path: '/policies',
  title: 'Policies',
  scopes: ['policy:read_policy'],
  nav: { group: 'Control', order: 75, icon: 'policy' },
  search: (raw) => {
    const edit = textOf(raw, 'edit');
    return edit === undefined ? {} : { edit };
  },
  load: () => import('./page.tsx'),
});
