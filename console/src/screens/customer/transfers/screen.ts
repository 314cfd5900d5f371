import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS } from './filters.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export default defineScreen({
  id: 'transfers',
  audience: 'customer',
  path: '/transfers',
  title: 'Transfers',
  scopes: ['transfer:read_transfer'],
  nav: { group: 'Money', order: 20, icon: 'transfers', key: 't' },
  search: searchOf(FILTERS),
  load: () => import('./page.tsx'),
  commands: ({ text }) => [
    {
      id: 'transfers-pending',
      label: 'Transfers that are pending',
      icon: 'clock',
      run: '/transfers?statuses=PENDING',
    },
    {
      id: 'transfers-failed',
      label: 'Transfers that failed',
      icon: 'alert',
      run: '/transfers?statuses=FAILED',
    },
    ...(UUID.test(text)
      ? [
          {
            id: 'find:transfer',
            label: `Open the transfer ${text}`,
            icon: 'transfers',
            run: `/transfers/${text}`,
          } as const,
        ]
      : []),
    ...(text.length >= 3 && !UUID.test(text) && !text.includes(' ')
      ? [
          {
            id: 'find:transfer-ref',
            label: `Transfers with the ref_id ${text}`,
            icon: 'search',
            run: `/transfers?ref_ids=${encodeURIComponent(text)}`,
          } as const,
          {
            id: 'find:transfer-hash',
            label: `Transfers with the hash ${text}`,
            icon: 'search',
            run: `/transfers?crypto_tx_hashes=${encodeURIComponent(text)}`,
          } as const,
        ]
      : []),
  ],
});
