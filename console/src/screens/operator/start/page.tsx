import type { components } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  Money,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';

type OpenWithdrawal = components['schemas']['OpenWithdrawal'];

const COLUMNS: readonly Column<OpenWithdrawal>[] = [
  { id: 'rail', header: 'Rail', width: '9rem', narrow: true, cell: ({ rail }) => rail },
  { id: 'state', header: 'State', width: '8rem', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(10rem, max-content)',
    narrow: true,
    align: 'right',
    cell: ({ amount, asset }) => <Money amount={amount} asset={asset} />,
  },
  {
    id: 'detail',
    header: 'What it waits for',
    width: 'minmax(12rem, 2fr)',
    cell: ({ detail }) => <span className="truncate text-quiet">{detail}</span>,
  },
  {
    id: 'since',
    header: 'Since',
    width: '8rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="relative" />,
  },
];

export default function WhatWaits() {
  const pages = usePages(['open-withdrawals'], (cursor, signal) =>
    ferry.listOpenWithdrawals({ ...cursor }, { signal }),
  );
  return (
    <>
      <PageHeader title="What waits" />
      <DataTable
        label="Open withdrawals"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.transfer_id}
        rowLink={(row) => `/transfers/${row.transfer_id}?customer=${row.customer_id}`}
        empty={
          <EmptyState icon="check" title="No withdrawal waits">
            Withdrawals that a rail has not confirmed yet appear here, the oldest with the reason why.
          </EmptyState>
        }
      />
    </>
  );
}
