import { defineScreen, textOf } from '~/app/screen.ts';

export default defineScreen({
  id: 'create-one',
  audience: 'customer',
  path: '/new/$operation',
  title: 'New',
  /** What is filled in already, so that other screens can lead here. */
  search: (raw) =>
    Object.fromEntries(
      ['profile', 'asset', 'fiat_account', 'account', 'to'].flatMap((name) => {
        const value = textOf(raw, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  load: () => import('./page.tsx'),
  sample: async () => '/new/crypto-withdrawal',
});
