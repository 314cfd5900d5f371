import type { components, Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import {
  ActorName,
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  IconButton,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './filters.ts';

type Approval = components['schemas']['Approval'];

const COLUMNS: readonly Column<Approval>[] = [
  {
    id: 'summary',
    header: 'What will happen',
    width: 'minmax(14rem, 4fr)',
    narrow: true,
    cell: ({ summary }) => <span title={summary}>{summary}</span>,
  },
  {
    id: 'status',
    header: 'Status',
    width: '7.5rem',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'votes',
    header: 'Votes',
    width: '5rem',
    align: 'right',
    narrow: true,
    cell: ({ votes, quorum }) => (
      <span className="tabular">
        {votes.filter((one) => one.decision === 'APPROVED').length} of {quorum}
      </span>
    ),
  },
  {
    id: 'maker',
    header: 'Proposed by',
    width: 'minmax(8rem, 1fr)',
    cell: ({ maker }) => <ActorName actor={maker} />,
  },
  {
    id: 'created',
    header: 'Proposed',
    width: '7rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="relative" />,
  },
  {
    id: 'expires',
    header: 'Expires',
    width: '8.5rem',
    align: 'right',
    cell: ({ expires_at: at, status }) => (status === 'PENDING' ? <Time at={at} form="short" /> : '–'),
  },
];

export default function Approvals() {
  const filter = useScreenSearch() as Input<'listOperatorApprovals'>;
  const pages = usePages(['operator-approvals', filter], (cursor, signal) =>
    ferry.listOperatorApprovals({ ...filter, ...cursor }, { signal }),
  );
  return (
    <>
      <PageHeader title="Approvals">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
      </PageHeader>
      <FilterBar list="operator-approvals" filters={FILTERS} />
      <DataTable
        label="Approvals"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/operator/approvals/${row.id}`}
        empty={
          <EmptyState icon="shield" title="Nothing waits for other eyes">
            Where the configuration requires four eyes, actions such as freezes, corrections and changes of
            policies are proposed here, and happen when others approve them.
          </EmptyState>
        }
      />
    </>
  );
}
