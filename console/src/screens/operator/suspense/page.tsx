import type { components, Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  IconButton,
  Money,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { DepositDrawer } from './drawer.tsx';
import { FILTERS } from './filters.ts';

export type SuspenseDeposit = components['schemas']['SuspenseDeposit'];

export const statusOf = ({ transfer_id: credited, returned_by: returned }: SuspenseDeposit): string =>
  credited !== undefined ? 'CREDITED' : returned !== undefined ? 'RETURNED' : 'OPEN';

const COLUMNS: readonly Column<SuspenseDeposit>[] = [
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(10rem, max-content)',
    narrow: true,
    cell: ({ amount, amount_units: units, asset }) => <Money amount={amount ?? units} asset={asset} />,
  },
  { id: 'status', header: 'Status', width: '7.5rem', cell: (row) => <StatusBadge status={statusOf(row)} /> },
  { id: 'rail', header: 'Rail', width: '7rem', narrow: true, cell: ({ rail }) => rail },
  {
    id: 'sent',
    header: 'Sent to',
    width: 'minmax(8rem, 1fr)',
    cell: ({ sent_to: sent }) => <span className="truncate font-mono text-xs">{sent}</span>,
  },
  {
    id: 'reason',
    header: 'Why it was not credited',
    width: 'minmax(12rem, 2.5fr)',
    cell: ({ reason }) => (
      <span className="truncate" title={reason}>
        {reason}
      </span>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    width: '7rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="relative" />,
  },
];

export default function Suspense() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const pages = usePages(['suspense', filter], (cursor, signal) =>
    ferry.listSuspenseDeposits({ ...(filter as Input<'listSuspenseDeposits'>), ...cursor }, { signal }),
  );
  return (
    <>
      <PageHeader title="Suspense">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
      </PageHeader>
      <FilterBar list="suspense" filters={FILTERS} />
      <DataTable
        label="Deposits in suspense"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          <EmptyState icon="inbox" title="No deposit is in suspense">
            Money that arrives for an unknown memo or address, or in an asset that is not configured, is here
            until somebody credits it or returns it.
          </EmptyState>
        }
      />
      <DepositDrawer id={typeof open === 'string' ? open : undefined} onClose={() => setSearch(filter)} />
    </>
  );
}
