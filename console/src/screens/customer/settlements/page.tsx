import type { Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { profilesQuery, useProfileName } from '~/customer/data.ts';
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  LinkButton,
  Loading,
  PageBody,
  PageHeader,
  ProblemNotice,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { Board, type Settlement } from './board.tsx';
import { FILTERS } from './filters.ts';
import { LegTexts } from './legs.tsx';

/** What one board reads: everything open. Of more, the list has the rest. */
const OPEN_MAX = 500;
const AGAIN_MS = 3_000;

export default function Settlements() {
  const { view } = useScreenSearch<{ view?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('settlement:write_transaction');
  return (
    <>
      <PageHeader title="Settlement">
        <Button
          icon={view === 'list' ? 'settlement' : 'log'}
          onClick={() => setSearch(view === 'list' ? {} : { view: 'list' })}
        >
          {view === 'list' ? 'Board' : 'List'}
        </Button>
        {mayWrite && (
          <LinkButton to="/new/settlement" variant="primary" icon="plus">
            Offer a settlement
          </LinkButton>
        )}
      </PageHeader>
      {view === 'list' ? <List /> : <Open />}
    </>
  );
}

function Open() {
  const profiles = useQuery(profilesQuery);
  const open = useQuery({
    queryKey: ['settlements', 'open'],
    queryFn: async () =>
      (await ferry.listSettlementTransactions({ statuses: ['PENDING', 'AFFIRMED'], limit: OPEN_MAX })).items,
    refetchInterval: AGAIN_MS,
  });
  const recent = useQuery({
    queryKey: ['settlements', 'recent'],
    queryFn: async () =>
      (
        await ferry.listSettlementTransactions({
          statuses: ['SETTLED', 'EXPIRED', 'CANCELLED'],
          order_by: 'UPDATED_AT',
          limit: 20,
        })
      ).items,
    refetchInterval: AGAIN_MS,
  });
  const error = open.error ?? profiles.error ?? recent.error;
  return (
    <PageBody>
      {error !== null && <ProblemNotice error={error} retry={() => void open.refetch()} />}
      {open.data === undefined || profiles.data === undefined ? (
        error === null && <Loading />
      ) : (
        <Board
          open={open.data}
          recent={recent.data ?? []}
          own={new Set(profiles.data.map(({ id }) => id))}
          isCut={open.data.length === OPEN_MAX}
        />
      )}
    </PageBody>
  );
}

function List() {
  const { customer: _, view: __, ...filter } = useScreenSearch<Search>();
  const nameOf = useProfileName();
  const pages = usePages(['settlements', 'list', filter], (cursor, signal) =>
    ferry.listSettlementTransactions(
      { ...(filter as Input<'listSettlementTransactions'>), ...cursor, limit: 100 },
      { signal },
    ),
  );
  const party = (id: string) => nameOf(id) ?? `…${id.slice(-6)}`;
  const columns: readonly Column<Settlement>[] = [
    {
      id: 'parties',
      header: 'Parties',
      width: 'minmax(12rem, 1.2fr)',
      narrow: true,
      cell: (one) => `${party(one.source_profile_id)} ⇄ ${party(one.target_profile_id)}`,
    },
    {
      id: 'status',
      header: 'Status',
      width: '8rem',
      narrow: true,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    { id: 'legs', header: 'Legs', width: 'minmax(12rem, 2fr)', cell: ({ legs }) => <LegTexts legs={legs} /> },
    {
      id: 'end',
      header: 'Window ends',
      width: '9rem',
      align: 'right',
      cell: ({ settlement_window_end: end }) => <Time at={end} form="short" />,
    },
    {
      id: 'created',
      header: 'Created',
      width: '8.5rem',
      align: 'right',
      cell: ({ created_at: at }) => <Time at={at} form="short" />,
    },
  ];
  return (
    <>
      <FilterBar list="settlements" filters={FILTERS} />
      <DataTable
        label="Settlement transactions"
        columns={columns}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/settlements/${row.id}`}
        empty={
          <EmptyState icon="settlement" title="No settlement transaction matches">
            Remove a filter, or offer a settlement to another party.
          </EmptyState>
        }
      />
    </>
  );
}
