import type { Answer, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import {
  Badge,
  Button,
  type Column,
  DataTable,
  Drawer,
  EmptyState,
  Everything,
  FilterBar,
  IconButton,
  Id,
  Loading,
  PageHeader,
  ProblemNotice,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import { FILTERS } from './filters.ts';

type Account = Answer<'listFiatAccountsForReview'>['items'][number];
type Viewed = Answer<'viewFiatAccountForReview'>;

const kindOf = ({ fiat_network_instructions: instructions }: Account): string =>
  Object.keys(instructions ?? {}).join(', ');

const COLUMNS: readonly Column<Account>[] = [
  {
    id: 'kind',
    header: 'Kind',
    width: '9rem',
    narrow: true,
    cell: (row) => kindOf(row) || 'Fiat account',
  },
  {
    id: 'status',
    header: 'Status',
    width: '7.5rem',
    narrow: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'findings',
    header: 'Findings of the automatic checks',
    width: 'minmax(14rem, 3fr)',
    cell: ({ findings }) =>
      findings.length === 0 ? (
        <span className="text-quiet">None</span>
      ) : (
        <span className="truncate">{findings.map(({ reason }) => reason).join(' ')}</span>
      ),
  },
  {
    id: 'customer',
    header: 'Customer',
    width: '11rem',
    cell: ({ customer_id: id }) => <Id id={id} of="customer id" />,
  },
  {
    id: 'since',
    header: 'Since',
    width: '7rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="relative" />,
  },
];

export default function Reviews() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const pages = usePages(['reviews', filter], (cursor, signal) =>
    ferry.listFiatAccountsForReview(
      { ...(filter as Input<'listFiatAccountsForReview'>), ...cursor },
      { signal },
    ),
  );
  return (
    <>
      <PageHeader title="Fiat accounts to review">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
      </PageHeader>
      <FilterBar list="reviews" filters={FILTERS} />
      <DataTable
        label="Fiat accounts"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          <EmptyState icon="bank" title="No fiat account waits for a review">
            Bank accounts that customers want to withdraw to appear here, with what the automatic checks have
            found. In the sandbox they are approved by themselves.
          </EmptyState>
        }
      />
      {typeof open === 'string' && <Review key={open} id={open} onClose={() => setSearch(filter)} />}
    </>
  );
}

/** The whole account is shown on request only, because every view of the number is recorded. */
function Review({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [shows, setShows] = useState(false);
  const [act, setAct] = useState<'approve' | 'reject'>();
  const read = useQuery({
    queryKey: ['fiat-account-review', id],
    queryFn: () => ferry.viewFiatAccountForReview({ id }),
    enabled: shows,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const account = read.data;
  const isPending = account?.status === 'PENDING';
  return (
    <>
      <Drawer
        open={act === undefined}
        onClose={onClose}
        title="Review a fiat account"
        footer={
          isPending ? (
            <>
              <Button onClick={() => setAct('reject')}>Reject</Button>
              <Button variant="primary" onClick={() => setAct('approve')}>
                Approve
              </Button>
            </>
          ) : undefined
        }
      >
        {!shows && (
          <EmptyState
            icon="shield"
            title="The whole account number is shown"
            action={
              <Button variant="primary" onClick={() => setShows(true)}>
                Show the account
              </Button>
            }
          >
            Every view of a number is recorded, with who looked and when.
          </EmptyState>
        )}
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {shows && account === undefined && read.error === null && <Loading />}
        {account !== undefined && <Shown account={account} />}
      </Drawer>
      {account !== undefined && (
        <>
          <ActDialog
            open={act === 'approve'}
            onClose={() => setAct(undefined)}
            title="Approve the fiat account"
            description="Withdrawals to it are paid from now on, those that wait for it at once."
            action="Approve"
            act={({ reason }) => ferry.approveFiatAccount({ id, digest: account.digest, reason })}
            done="Approved."
          />
          <ActDialog
            open={act === 'reject'}
            onClose={() => setAct(undefined)}
            title="Reject the fiat account"
            description="It cannot be used. Withdrawals that wait for it fail, and their totals return."
            action="Reject"
            danger
            act={({ reason }) => ferry.rejectFiatAccount({ id, digest: account.digest, reason })}
            done="Rejected."
          />
        </>
      )}
    </>
  );
}

function Shown({ account }: { readonly account: Viewed }) {
  const { findings, digest: _, ...fields } = account;
  return (
    <div className="flex flex-col gap-4">
      {findings.map(({ verdict, reason }) => (
        <p key={reason} className="flex items-center gap-2 text-sm">
          <Badge tone={verdict === 'REJECT' ? 'bad' : 'warn'}>
            {verdict === 'REJECT' ? 'Wrong' : 'Check'}
          </Badge>
          {reason}
        </p>
      ))}
      <Everything value={fields} />
    </div>
  );
}
