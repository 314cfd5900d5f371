import { defineScreen } from '~/app/screen.ts';
import { may } from '~/app/session.ts';

export default defineScreen({
  id: 'operator-policies',
  audience: 'operator',
  path: '/operator/policies',
  title: 'Policies',
  scopes: ['operator:read'],
  nav: { group: 'Control', order: 70, icon: 'policy', key: 'p' },
  load: () => import('./page.tsx'),
  commands: ({ me }) =>
    may(me, 'operator:admin')
      ? [{ id: 'policy-new', label: 'New policy…', icon: 'policy', run: '/operator/policies/new' }]
      : [],
});
