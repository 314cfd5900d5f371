import type { components, Input } from '@ferry/client';
import { useMemo } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import { fractionOf } from '~/lib/money.ts';
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
import { FILTERS } from './filters.ts';

type OpenWithdrawal = components['schemas']['OpenWithdrawal'];

const columnsOf = (fraction: number): Column<OpenWithdrawal>[] => [
  { id: 'rail', header: 'Rail', width: 'minmax(7rem, 0.6fr)', narrow: true, cell: ({ rail }) => rail },
  { id: 'state', header: 'State', width: '8rem', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(9rem, max-content)',
    narrow: true,
    align: 'right',
    cell: ({ amount }) => <Money amount={amount} fraction={fraction} className="font-medium" />,
  },
  {
    id: 'asset',
    header: 'Asset',
    width: '5rem',
    narrow: true,
    cell: ({ asset }) => <span className="text-quiet">{asset}</span>,
  },
  {
    id: 'detail',
    header: 'What it waits for',
    width: 'minmax(12rem, 3fr)',
    cell: ({ detail = '' }) => (
      <span className="truncate" title={detail}>
        {detail}
      </span>
    ),
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '6.5rem',
    align: 'right',
    cell: ({ attempts, failures }) => (
      <span className="tabular">
        {attempts}
        {failures > 0 && <span className="text-bad"> · {failures} failed</span>}
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

export default function OpenWithdrawals() {
  const filter = useScreenSearch() as Input<'listOpenWithdrawals'>;
  const pages = usePages(['open-withdrawals', filter], (cursor, signal) =>
    ferry.listOpenWithdrawals({ ...filter, ...cursor }, { signal }),
  );
  const fraction = useMemo(() => fractionOf(pages.first.map((one) => one.amount)), [pages.first]);
  const columns = useMemo(() => columnsOf(fraction), [fraction]);
  return (
    <>
      <PageHeader title="Open withdrawals">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
      </PageHeader>
      <FilterBar list="open-withdrawals" filters={FILTERS} />
      <DataTable
        label="Open withdrawals"
        columns={columns}
        pages={pages}
        rowId={(row) => row.transfer_id}
        rowLink={(row) => `/operator/withdrawals/${row.transfer_id}`}
        empty={
          <EmptyState icon="check" title="No withdrawal is open">
            Withdrawals of all customers are here from the request until their rail has paid or failed them.
          </EmptyState>
        }
      />
    </>
  );
}
