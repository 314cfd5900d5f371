import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { words } from '~/lib/words.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  Money,
  PageHeader,
  Panel,
  Sentence,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { HeldActions } from './held-actions.tsx';
import { FILTERS } from './screen.ts';

type Approval = components['schemas']['Approval'];

const COLUMNS: readonly Column<Approval>[] = [
  {
    id: 'summary',
    header: 'What will happen',
    width: 'minmax(14rem, 3fr)',
    narrow: true,
    cell: ({ summary }) => summary,
  },
  {
    id: 'status',
    header: 'Status',
    width: '8rem',
    narrow: true,
    align: 'right',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'votes',
    header: 'Approvals',
    width: '6rem',
    align: 'right',
    cell: ({ votes, quorum }) => (
      <span className="tabular">
        {votes.filter((one) => one.decision === 'APPROVED').length} of {quorum}
      </span>
    ),
  },
  {
    id: 'maker',
    header: 'Proposed by',
    width: '9rem',
    cell: ({ maker }) => (
      <span className="truncate text-quiet">{maker.name ?? maker.kind.toLowerCase()}</span>
    ),
  },
  {
    id: 'expires',
    header: 'Expires',
    width: '8.5rem',
    align: 'right',
    cell: ({ expires_at: at }) => <Time at={at} form="short" />,
  },
];

export default function Approvals() {
  const { customer: _, ...filter } = useScreenSearch<Search>();
  const pages = usePages(['approvals', filter], (cursor, signal) =>
    ferry.listApprovals({ ...(filter as Input<'listApprovals'>), ...cursor, limit: 100 }, { signal }),
  );
  return (
    <>
      <PageHeader title="Approvals" />
      <Held />
      <FilterBar list="approvals" filters={FILTERS} />
      <DataTable
        label="Requests"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/approvals/${row.id}`}
        empty={
          <EmptyState icon="shield" title="No request">
            Where two people are required, the action of the first one becomes a request, and the second one
            approves it here.
          </EmptyState>
        }
      />
    </>
  );
}

/** Pending transfers that are looked through: the interface has no filter for what they wait for. */
const LOOKED_THROUGH = 500;

/** Withdrawals that an approval rule of a policy holds. */
function Held() {
  const held = useQuery({
    queryKey: ['transfers', 'held'],
    queryFn: async () =>
      (await ferry.listTransfers({ statuses: ['PENDING'], limit: LOOKED_THROUGH })).items.filter(
        (one) => one.secondary_status?.name === 'AWAITING_APPROVAL',
      ),
    refetchInterval: 5_000,
  }).data;
  if (held === undefined || held.length === 0) return null;
  return (
    <div className="px-4 pb-4 sm:px-6">
      <Panel title="Withdrawals that wait for an approval" flush>
        <ul className="max-h-72 overflow-y-auto">
          {held.map((one) => (
            <li
              key={one.id}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line/60 px-4 py-2 text-sm last:border-0"
            >
              <div className="min-w-0 flex-1 basis-60">
                <Link to={`/transfers/${one.id}`} className="font-medium hover:underline">
                  {words(one.type)} <Money amount={one.amount} asset={one.asset} />
                </Link>
                <p className="text-xs text-quiet">
                  <Sentence text={one.secondary_status?.detail} />
                </p>
              </div>
              <HeldActions transfer={one} />
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}
