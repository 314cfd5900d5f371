import { defineScreen } from '~/app/screen.ts';
import { searchOf } from '~/ui/search-of.ts';

export default defineScreen({
  id: 'operator-search',
  audience: 'operator',
  path: '/operator/search',
  title: 'Search',
  scopes: ['operator:read'],
  nav: { group: 'Operations', order: 15, icon: 'search', key: 'x' },
  search: searchOf([{ name: 'text', label: 'Text', kind: 'text' }]),
  load: () => import('./page.tsx'),
  commands: ({ text }) =>
    text.length < 2
      ? []
      : [
          {
            id: 'find:everything',
            label: `Search all customers for “${text}”`,
            icon: 'search',
            run: `/operator/search?text=${encodeURIComponent(text)}`,
          },
        ],
});
