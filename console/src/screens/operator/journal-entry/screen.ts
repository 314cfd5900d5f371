import { defineScreen } from '~/app/screen.ts';

export default defineScreen({
  id: 'operator-journal-entry',
  audience: 'operator',
  path: '/operator/journal/$id',
  title: 'Journal entry',
  scopes: ['operator:read'],
  load: () => import('./page.tsx'),
  sample: async (ferry) => {
    const { items } = await ferry.listJournalEntries({ limit: 1 });
    return items[0] && `/operator/journal/${items[0].id}`;
  },
});
