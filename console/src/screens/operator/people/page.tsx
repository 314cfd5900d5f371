import type { components, Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { counted, words } from '~/lib/words.ts';
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  IconButton,
  Id,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './filters.ts';
import { NewPerson, PersonDrawer } from './person.tsx';

export type Person = components['schemas']['Person'];

const COLUMNS: readonly Column<Person>[] = [
  { id: 'name', header: 'Name', width: 'minmax(10rem, 1.2fr)', narrow: true, cell: ({ name }) => name },
  {
    id: 'email',
    header: 'Email',
    width: 'minmax(10rem, 1.5fr)',
    cell: ({ email }) => <span className="truncate text-quiet">{email}</span>,
  },
  {
    id: 'roles',
    header: 'Roles',
    width: 'minmax(9rem, 1fr)',
    narrow: true,
    cell: ({ roles }) => <span className="truncate">{roles.map((role) => words(role)).join(', ')}</span>,
  },
  {
    id: 'customer',
    header: 'Of',
    width: '11rem',
    cell: ({ customer_id: id }) => (id === undefined ? 'the operator' : <Id id={id} of="customer id" />),
  },
  { id: 'status', header: 'Status', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'passkeys',
    header: 'Passkeys',
    width: '7rem',
    align: 'right',
    cell: ({ passkeys }) => (passkeys === 0 ? 'none' : counted(passkeys, 'passkey')),
  },
  {
    id: 'added',
    header: 'Added',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function People() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const mayAdd = useMay('people:write_person');
  const pages = usePages(['people', filter], (cursor, signal) =>
    ferry.listPeople({ ...(filter as Input<'listPeople'>), ...cursor }, { signal }),
  );
  const close = (): void => setSearch(filter);
  return (
    <>
      <PageHeader title="People">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
        {mayAdd && (
          <Button icon="plus" variant="primary" onClick={() => setSearch({ ...filter, open: 'new' })}>
            Add a person
          </Button>
        )}
      </PageHeader>
      <FilterBar list="people" filters={FILTERS} />
      <DataTable
        label="People"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          <EmptyState icon="people" title="Nobody is here">
            People of the operator and of all customers sign in with passkeys. What they may do follows from
            their roles.
          </EmptyState>
        }
      />
      {mayAdd && open === 'new' && <NewPerson onClose={close} />}
      {typeof open === 'string' && open !== 'new' && <PersonDrawer key={open} id={open} onClose={close} />}
    </>
  );
}
