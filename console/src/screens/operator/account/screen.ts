import { defineScreen } from '~/app/screen.ts';
import { searchOf, timeFilters } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-account',
  audience: 'operator',
  path: '/operator/accounts/$account',
  title: 'Account of the service',
  scopes: ['operator:read'],
  search: searchOf([{ name: 'asset', label: 'Asset', kind: 'text' }, ...timeFilters('created_at', 'When')]),
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { assets } = await ferry.getTrialBalance({});
    const found = assets.flatMap(({ asset, accounts }) =>
      accounts.map(({ account }) => ({ asset, account })),
    );
    const one = found.find(({ account }) => account.startsWith('clearing:'));
    return one && `/operator/accounts/${encodeURIComponent(one.account)}?asset=${one.asset}`;
  },
});
