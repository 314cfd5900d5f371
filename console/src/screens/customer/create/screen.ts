import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'create',
  audience: 'customer',
  path: '/new',
  title: 'New',
  scopes: ['transfer:write_platform_transfer'],
  nav: { group: 'Money', order: 15, icon: 'plus', key: 'n' },
  load: () => import('./page.tsx'),
  commands: () => [
    { id: 'new-fiat', label: 'New fiat withdrawal', icon: 'plus', run: '/new/fiat-withdrawal' },
    { id: 'new-crypto', label: 'New crypto withdrawal', icon: 'plus', run: '/new/crypto-withdrawal' },
    { id: 'new-platform', label: 'New platform transfer', icon: 'plus', run: '/new/platform-transfer' },
    { id: 'new-internal', label: 'New internal transfer', icon: 'plus', run: '/new/internal-transfer' },
    { id: 'new-settlement', label: 'New settlement transaction', icon: 'plus', run: '/new/settlement' },
    { id: 'new-account', label: 'New fiat account', icon: 'plus', run: '/new/fiat-account' },
    { id: 'new-members', label: 'Add account members', icon: 'plus', run: '/new/members' },
  ],
});
