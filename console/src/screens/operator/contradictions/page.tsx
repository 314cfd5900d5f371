import type { components, Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  Id,
  PageHeader,
  StatusBadge,
  Time,
  timeFilters,
  usePages,
} from '~/ui/index.ts';

type Contradiction = components['schemas']['RailContradiction'];

const COLUMNS: readonly Column<Contradiction>[] = [
  { id: 'rail', header: 'Rail', width: '9rem', narrow: true, cell: ({ rail }) => rail },
  {
    id: 'reported',
    header: 'The rail says',
    width: '9rem',
    narrow: true,
    cell: ({ reported }) => <StatusBadge status={reported} />,
  },
  {
    id: 'recorded',
    header: 'Recorded is',
    width: '9rem',
    cell: ({ recorded }) => <StatusBadge status={recorded} />,
  },
  {
    id: 'transfer',
    header: 'Withdrawal',
    width: '11rem',
    cell: ({ transfer_id: id }) => <Id id={id} of="transfer id" />,
  },
  {
    id: 'detail',
    header: 'The report',
    width: 'minmax(12rem, 2fr)',
    cell: ({ detail }) => <span className="truncate">{detail}</span>,
  },
  {
    id: 'at',
    header: 'Reported',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function Contradictions() {
  const filter = useScreenSearch() as Input<'listRailContradictions'>;
  const pages = usePages(['contradictions', filter], (cursor, signal) =>
    ferry.listRailContradictions({ ...filter, ...cursor }, { signal }),
  );
  return (
    <>
      <PageHeader title="Contradictions" />
      <FilterBar list="contradictions" filters={timeFilters('created_at', 'Reported')} />
      <DataTable
        label="Contradictions"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => `${row.transfer_id}${row.rail}${row.reported}${row.created_at}`}
        rowLink={(row) => `/operator/withdrawals/${row.transfer_id}`}
        empty={
          <EmptyState icon="check" title="No rail has contradicted itself">
            If a rail reports another outcome than the one that is recorded, nothing is posted, and the report
            is kept here until somebody has found out what is true.
          </EmptyState>
        }
      />
    </>
  );
}
