import type { components, Input } from '@ferry/client';
import { useMemo } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { fractionOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  ExportButton,
  FilterBar,
  IconButton,
  LinkButton,
  Money,
  PageHeader,
  Sentence,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './filters.ts';

export type Transfer = components['schemas']['Transfer'];
type Filter = Input<'listTransfers'>;

/** A page that is parsed well within a frame; 100,000 rows are 500 requests. */
const PAGE = 200;
const FIRST_PAGE = 100;

const FIELDS = [
  'id',
  'created_at',
  'updated_at',
  'type',
  'status',
  'direction',
  'amount',
  'fee',
  'total',
  'asset',
  'profile_id',
  'ref_id',
  'crypto_network',
  'crypto_tx_hash',
  'destination_address',
  'fiat_account_id',
  'group_id',
  'identity_id',
  'account_id',
  'memo',
] as const satisfies readonly (keyof Transfer)[];

const columnsOf = (fraction: number): Column<Transfer>[] => [
  {
    id: 'type',
    header: 'Type',
    width: 'minmax(11rem, 1.4fr)',
    narrow: true,
    cell: ({ type }) => words(type),
  },
  {
    id: 'status',
    header: 'Status',
    width: '8rem',
    narrow: false,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(11rem, max-content)',
    narrow: true,
    align: 'right',
    cell: ({ amount, direction }) => (
      <Money amount={amount} direction={direction} fraction={fraction} className="font-medium" />
    ),
  },
  {
    id: 'asset',
    header: 'Asset',
    width: '5.5rem',
    narrow: true,
    cell: ({ asset }) => <span className="text-quiet">{asset}</span>,
  },
  {
    id: 'waits',
    header: 'What it waits for',
    width: 'minmax(8rem, 2fr)',
    cell: ({ secondary_status: secondary, ref_id: ref }) => (
      <span className="text-quiet">
        <Sentence text={secondary?.detail ?? ref} />
      </span>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function Transfers() {
  const search = useScreenSearch<Record<string, string>>();
  const { customer: _, ...filter } = search as Record<string, unknown>;
  const pages = usePages(['transfers', filter], (cursor, signal) =>
    ferry.listTransfers(
      { ...(filter as Filter), ...cursor, limit: cursor.page_cursor === undefined ? FIRST_PAGE : PAGE },
      { signal },
    ),
  );
  // Of what is loaded first: a column that grows while one scrolls would jump.
  const fraction = useMemo(() => fractionOf(pages.first.map((one) => one.amount)), [pages.first]);
  const columns = useMemo(() => columnsOf(fraction), [fraction]);
  const mayCreate = useMay('transfer:write_platform_transfer');
  return (
    <>
      <PageHeader title="Transfers">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
        <ExportButton<Transfer>
          name="transfers"
          fields={FIELDS}
          read={() => ferry.listTransfers({ ...(filter as Filter), limit: 1_000 })}
        />
        {mayCreate && (
          <LinkButton to="/new" variant="primary" icon="plus">
            New
          </LinkButton>
        )}
      </PageHeader>
      <FilterBar list="transfers" filters={FILTERS} />
      <DataTable
        label="Transfers"
        columns={columns}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/transfers/${row.id}`}
        empty={
          Object.keys(filter).length === 0 ? (
            <EmptyState icon="transfers" title="No transfers yet">
              Deposits, withdrawals and transfers between profiles appear here as soon as they are requested
              or arrive.
            </EmptyState>
          ) : (
            <EmptyState icon="filter" title="No transfer matches these filters">
              Remove one of them above. Times are in your zone; ids must be complete.
            </EmptyState>
          )
        }
      />
    </>
  );
}
