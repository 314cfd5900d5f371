import { defineScreen } from '~/app/screen.ts';
import { may } from '~/app/session.ts';
import { searchOf } from '~/ui/search-of.ts';
import { FILTERS, OPEN } from './filters.ts';

export default defineScreen({
  id: 'operator-journal',
  audience: 'operator',
  path: '/operator/journal',
  title: 'Journal',
  scopes: ['operator:read'],
  nav: { group: 'Books', order: 100, icon: 'journal', key: 'j' },
  search: searchOf([...FILTERS, OPEN]),
  load: () => import('./page.tsx'),
  commands: ({ me }) =>
    may(me, 'operator:journal')
      ? [
          {
            id: 'journal-new',
            label: 'Book a journal entry…',
            icon: 'journal',
            run: '/operator/journal?open=new',
          },
        ]
      : [],
});
