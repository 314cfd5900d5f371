import type { components } from '@ferry/client';
import { useMemo } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenParams, useScreenSearch } from '~/app/navigation.ts';
import { addAmounts, fractionOf } from '~/lib/money.ts';
import { localDay } from '~/lib/time.ts';
import { words } from '~/lib/words.ts';
import {
  BarChart,
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  Id,
  Money,
  PageHeader,
  type Point,
  Time,
  timeFilters,
  usePages,
} from '~/ui/index.ts';

type Entry = components['schemas']['SystemEntry'];

const columnsOf = (fraction: number): Column<Entry>[] => [
  {
    id: 'cause',
    header: 'Cause',
    width: 'minmax(11rem, 1.5fr)',
    narrow: true,
    cell: ({ cause }) => words(cause.kind ?? cause.type),
  },
  {
    id: 'amount',
    header: 'Amount',
    width: 'minmax(10rem, max-content)',
    align: 'right',
    narrow: true,
    cell: ({ amount, direction }) => (
      <Money amount={amount} direction={direction} fraction={fraction} className="font-medium" />
    ),
  },
  {
    id: 'profile',
    header: 'Other profile',
    width: 'minmax(11rem, 1fr)',
    cell: ({ profile_id: id }) => (id === undefined ? '–' : <Id id={id} of="profile id" />),
  },
  {
    id: 'id',
    header: 'Of',
    width: 'minmax(11rem, 1fr)',
    cell: ({ cause }) => <Id id={cause.id} of={`${words(cause.type).toLowerCase()} id`} />,
  },
  {
    id: 'at',
    header: 'When',
    width: '12rem',
    align: 'right',
    cell: ({ at }) => <Time at={at} />,
  },
];

/** What went in and out of the loaded entries, added up by day in the zone of the reader. */
function flowOf(entries: readonly Entry[], direction: Entry['direction']): Point[] {
  const days = Map.groupBy([...entries].reverse(), (one) => localDay(one.at));
  return [...days].map(([label, some]) => ({
    label,
    amount: addAmounts('0', ...some.filter((one) => one.direction === direction).map((one) => one.amount)),
  }));
}

export default function Account() {
  const { account } = useScreenParams<{ account: string }>();
  const { asset = 'USD', ...times } = useScreenSearch<Record<string, string>>();
  const pages = usePages(['account-entries', account, asset, times], (cursor, signal) =>
    ferry.listAccountEntries({ account, asset, ...times, ...cursor, limit: 500 }, { signal }),
  );
  const fraction = useMemo(() => fractionOf(pages.first.map((one) => one.amount)), [pages.first]);
  const columns = useMemo(() => columnsOf(fraction), [fraction]);
  return (
    <>
      <PageHeader
        title={`${account} in ${asset}`}
        back={{ to: '/operator/trial-balance', label: 'Trial balance' }}
      />
      <FilterBar
        list="account-entries"
        filters={[{ name: 'asset', label: 'Asset', kind: 'text' }, ...timeFilters('created_at', 'When')]}
      />
      {pages.count > 0 && (
        <div className="grid shrink-0 grid-cols-1 gap-6 border-t border-line bg-panel px-4 py-3 sm:grid-cols-2 sm:px-6 max-sm:hidden">
          <Flow title={`Into ${account} per day`} asset={asset} points={flowOf(pages.first, 'CREDIT')} />
          <Flow title={`Out of ${account} per day`} asset={asset} points={flowOf(pages.first, 'DEBIT')} />
        </div>
      )}
      <DataTable
        label={`Entries of ${account}`}
        columns={columns}
        pages={pages}
        rowId={(row) => `${row.at}${row.cause.id}${row.profile_id ?? ''}${row.direction}${row.amount}`}
        empty={
          <EmptyState icon="journal" title="No entries">
            The account {account} has no entries in {asset}, or none at these times.
          </EmptyState>
        }
      />
    </>
  );
}

function Flow({
  title,
  asset,
  points,
}: {
  readonly title: string;
  readonly asset: string;
  readonly points: readonly Point[];
}) {
  return (
    <div className="min-w-0">
      <h2 className="eyebrow mb-1">{title}</h2>
      <div className="h-28 overflow-hidden [&_svg]:h-20">
        <BarChart title={title} asset={asset} points={points} />
      </div>
    </div>
  );
}
