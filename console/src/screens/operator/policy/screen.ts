import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-policy',
  audience: 'operator',
  /** `new` for one that does not exist yet. */
  path: '/operator/policies/$id',
  title: 'Policy',
  scopes: ['operator:read'],
  search: searchOf([{ name: 'tab', label: 'Tab', kind: 'choice', options: ['rules', 'change', 'versions'] }]),
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listPolicies({ limit: 1 });
    return items[0] ? `/operator/policies/${items[0].id}` : '/operator/policies/new';
  },
});
