import type { components, Input } from '@ferry/client';
import { useMemo } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { fractionOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  ExportButton,
  FilterBar,
  IconButton,
  Money,
  PageHeader,
  Time,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './filters.ts';
import { NewEntry } from './new-entry.tsx';

export type JournalEntry = components['schemas']['JournalEntry'];
type Filter = Input<'listJournalEntries'>;

const FIELDS = [
  'id',
  'created_at',
  'kind',
  'asset',
  'amount',
  'reason',
  'reference',
  'note',
  'rail',
  'account',
  'actor',
  'ref_id',
  'transfer_id',
  'suspense_deposit_id',
  'profile_ids',
  'reversed_by',
] as const satisfies readonly (keyof JournalEntry)[];

const columnsOf = (fraction: number): Column<JournalEntry>[] => [
  {
    id: 'kind',
    header: 'Kind',
    width: 'minmax(10rem, 1fr)',
    narrow: true,
    cell: ({ kind, reversed_by: reversed }) => (
      <span className={reversed === undefined ? '' : 'text-quiet line-through'}>{words(kind)}</span>
    ),
  },
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(9rem, max-content)',
    align: 'right',
    narrow: true,
    cell: ({ amount, amount_units: units }) =>
      amount === undefined && units === undefined ? (
        '–'
      ) : (
        <Money amount={(amount ?? units)!} fraction={fraction} className="font-medium" />
      ),
  },
  {
    id: 'asset',
    header: 'Asset',
    width: '5rem',
    narrow: true,
    cell: ({ asset }) => <span className="text-quiet">{asset}</span>,
  },
  {
    id: 'reason',
    header: 'Why',
    width: 'minmax(12rem, 3fr)',
    cell: ({ reason }) => (
      <span className="truncate" title={reason}>
        {reason}
      </span>
    ),
  },
  {
    id: 'reference',
    header: 'Evidence',
    width: 'minmax(8rem, 1fr)',
    cell: ({ reference }) => <span className="truncate text-quiet">{reference}</span>,
  },
  {
    id: 'at',
    header: 'Booked',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function Journal() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const mayBook = useMay('operator:journal');
  const pages = usePages(['journal', filter], (cursor, signal) =>
    ferry.listJournalEntries({ ...(filter as Filter), ...cursor }, { signal }),
  );
  const fraction = useMemo(() => fractionOf(pages.first.map((one) => one.amount ?? '0')), [pages.first]);
  const columns = useMemo(() => columnsOf(fraction), [fraction]);
  return (
    <>
      <PageHeader title="Journal">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
        <ExportButton<JournalEntry>
          name="journal"
          fields={FIELDS}
          read={() => ferry.listJournalEntries({ ...(filter as Filter), limit: 1_000 })}
        />
        {mayBook && (
          <Button icon="plus" variant="primary" onClick={() => setSearch({ ...filter, open: 'new' })}>
            Book an entry
          </Button>
        )}
      </PageHeader>
      <FilterBar list="journal" filters={FILTERS} />
      <DataTable
        label="Journal"
        columns={columns}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/operator/journal/${row.id}`}
        empty={
          <EmptyState icon="journal" title="Nothing was booked by hand">
            Movements that no customer requested are here, with the reason, the evidence and who booked them:
            opening balances, returns, write-offs, corrections.
          </EmptyState>
        }
      />
      {mayBook && open === 'new' && <NewEntry onClose={() => setSearch(filter)} />}
    </>
  );
}
