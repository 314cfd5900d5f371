import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  Button,
  EmptyState,
  Facts,
  Icon,
  Id,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Sentence,
  StatusBadge,
  Time,
  Timeline,
  timelineItemOf,
} from '~/ui/index.ts';
import { ActorText, Customer } from '../parts/show.tsx';
import { type Act, ActOn } from './actions.tsx';
import { ADVICE } from './reasons.ts';

export type Transfer = components['schemas']['Transfer'];
export type OpenWithdrawal = components['schemas']['OpenWithdrawal'];
type Note = components['schemas']['WithdrawalNote'];

const OPEN_AGAIN_MS = 3_000;
const BACK = { to: '/operator/withdrawals', label: 'Open withdrawals' };

/** What the service knows about a withdrawal, of any customer: its log, its work, and notes for operators. */
async function readWithdrawal(id: string, mayReview: boolean) {
  const [log, open, notes, reports] = await Promise.all([
    ferry.listOperatorAuditLog({ resource_ids: [id], order: 'ASC', limit: 200 }),
    ferry.listOpenWithdrawals({ ids: [id] }),
    ferry.listWithdrawalNotes({ id }),
    mayReview ? ferry.listRailContradictions({ limit: 200 }) : { items: [] },
  ]);
  const states = log.items.filter((one) => one.resource_type === 'transfer' && one.after !== undefined);
  return {
    log: log.items,
    transfer: states.at(-1)?.after as Transfer | undefined,
    open: open.items[0],
    notes: notes.items,
    contradictions: reports.items.filter((one) => one.transfer_id === id),
  };
}
type Withdrawal = Awaited<ReturnType<typeof readWithdrawal>>;

export default function OneWithdrawal() {
  const { id } = useScreenParams<{ id: string }>();
  const mayReview = useMay('operator:review');
  const read = useQuery({
    queryKey: ['withdrawal', id],
    queryFn: () => readWithdrawal(id, mayReview),
    refetchInterval: ({ state }) => (state.data?.open === undefined ? false : OPEN_AGAIN_MS),
  });
  if (read.error !== null)
    return (
      <>
        <PageHeader title="Withdrawal" back={BACK} />
        <PageBody>
          <ProblemNotice error={read.error} retry={() => void read.refetch()} />
        </PageBody>
      </>
    );
  if (read.data === undefined) return <Loading what="Loading the withdrawal" />;
  const { transfer } = read.data;
  if (transfer === undefined)
    return (
      <>
        <PageHeader title="Withdrawal" back={BACK} />
        <EmptyState icon="search" title="The log has nothing about it">
          The audit log has no entry for {id}.
        </EmptyState>
      </>
    );
  return <Details withdrawal={read.data} transfer={transfer} />;
}

function Details({ withdrawal, transfer }: { readonly withdrawal: Withdrawal; readonly transfer: Transfer }) {
  const { open, notes, log, contradictions } = withdrawal;
  const { type, amount, asset, status } = transfer;
  return (
    <>
      <PageHeader
        back={BACK}
        windowTitle={`${words(type)} of ${amount} ${asset}`}
        title={
          <>
            {words(type)} <Money amount={amount} asset={asset} className="ml-1" />
          </>
        }
        badge={<StatusBadge status={status} />}
      >
        {open !== undefined && <Actions open={open} transfer={transfer} />}
      </PageHeader>
      <PageBody>
        <Why open={open} transfer={transfer} />
        {contradictions.map((one) => (
          <div
            key={one.created_at}
            className="flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm"
          >
            <Icon name="scales" className="mt-0.5 size-4 shrink-0 text-bad" />
            <p>
              <strong className="font-medium text-bad">Contradiction.</strong> The {one.rail} rail reported{' '}
              {words(one.reported).toLowerCase()}, recorded is {words(one.recorded).toLowerCase()}:{' '}
              <Sentence text={one.detail} />
            </p>
          </div>
        ))}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="Timeline">
            <Timeline items={log.map(timelineItemOf)} />
          </Panel>
          <div className="flex min-w-0 flex-col gap-4">
            <Panel title="On the rail">
              <RailFacts open={open} transfer={transfer} />
            </Panel>
            <Panel title="Notes for operators">
              <Notes notes={notes} />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

/** The answer to "why is it stuck": in the words of the service, what that means, and what to do. */
function Why({ open, transfer }: { readonly open: OpenWithdrawal | undefined; readonly transfer: Transfer }) {
  const { secondary_status: secondary } = transfer;
  const advice = open === undefined ? undefined : ADVICE[secondary?.name ?? open.state];
  return (
    <section aria-label="Why it waits" className="rounded-xl border border-line bg-panel p-4 text-sm">
      <p className="text-base font-medium">
        <Sentence text={secondary?.detail ?? (open === undefined ? 'It has ended.' : words(open.state))} />
      </p>
      {advice !== undefined && (
        <dl className="mt-3 grid grid-cols-1 gap-x-6 gap-y-1.5 sm:grid-cols-[max-content_1fr]">
          <dt className="text-quiet">What it means</dt>
          <dd>{advice.means}</dd>
          <dt className="text-quiet">What to do</dt>
          <dd>
            {advice.todo}{' '}
            {advice.link !== undefined && (
              <Link to={advice.link.to} className="whitespace-nowrap text-accent hover:underline">
                {advice.link.label}
              </Link>
            )}
          </dd>
        </dl>
      )}
    </section>
  );
}

function RailFacts({
  open,
  transfer,
}: {
  readonly open: OpenWithdrawal | undefined;
  readonly transfer: Transfer;
}) {
  const { asset } = transfer;
  return (
    <Facts
      facts={[
        open && { name: 'Rail', value: open.rail },
        open && { name: 'State', value: <StatusBadge status={open.state} /> },
        open && { name: 'Attempts', value: `${open.attempts}` },
        open && {
          name: 'Failed in a row',
          value: open.failures > 0 ? <Badge tone="bad">{open.failures}</Badge> : '0',
        },
        open?.submitted_at !== undefined
          ? { name: 'Last attempt', value: <Time at={open.submitted_at} /> }
          : undefined,
        { name: 'Requested', value: <Time at={transfer.created_at} /> },
        { name: 'Amount', value: <Money amount={transfer.amount} asset={asset} /> },
        { name: 'Fee', value: <Money amount={transfer.fee} asset={asset} /> },
        { name: 'Total', value: <Money amount={transfer.total} asset={asset} /> },
        { name: 'Customer', value: <Customer id={transfer.customer_id} /> },
        { name: 'Profile', value: <Id id={transfer.profile_id} of="profile id" whole /> },
        transfer.fiat_account_id === undefined
          ? undefined
          : {
              name: 'Fiat account',
              value: <Id id={transfer.fiat_account_id} of="fiat account id" whole />,
            },
        transfer.destination_address === undefined
          ? undefined
          : { name: 'Destination', value: <Id id={transfer.destination_address} of="address" whole /> },
        transfer.crypto_tx_hash === undefined
          ? undefined
          : { name: 'Transaction', value: <Id id={transfer.crypto_tx_hash} of="transaction hash" whole /> },
        transfer.ref_id === undefined
          ? undefined
          : { name: 'Reference', value: <Id id={transfer.ref_id} of="ref_id" whole /> },
        { name: 'Transfer', value: <Id id={transfer.id} of="transfer id" whole /> },
      ]}
    />
  );
}

function Notes({ notes }: { readonly notes: readonly Note[] }) {
  if (notes.length === 0)
    return (
      <p className="text-sm text-quiet">
        None. The reasons of the rail and of screening, and of those who release or refuse it, would be here.
        The customer never sees them.
      </p>
    );
  return (
    <Timeline
      items={notes.map((one, index) => ({
        id: `${index}`,
        at: one.created_at,
        title: words(one.kind),
        by: (
          <>
            by <ActorText text={one.noted_by} />
          </>
        ),
        children: <Sentence text={one.detail} />,
      }))}
    />
  );
}

function Actions({ open, transfer }: { readonly open: OpenWithdrawal; readonly transfer: Transfer }) {
  const [act, setAct] = useState<Act>();
  const [mayApprove, mayBook] = [useMay('operator:approve'), useMay('operator:journal')];
  const isHeld = /^AWAITING_(APPROVAL|SCREENING)$/.test(open.waits_for ?? '');
  const isQueued = open.state === 'QUEUED';
  return (
    <>
      {mayApprove && isHeld && (
        <>
          <Button variant="primary" icon="check" onClick={() => setAct('release')}>
            Release
          </Button>
          <Button icon="close" onClick={() => setAct('refuse')}>
            Refuse
          </Button>
        </>
      )}
      {mayBook && isQueued && (
        <Button icon="close" onClick={() => setAct('cancel')}>
          Cancel
        </Button>
      )}
      {mayBook && !isQueued && (
        <Button icon="scales" onClick={() => setAct('resolve')}>
          Resolve
        </Button>
      )}
      <ActOn act={act} onClose={() => setAct(undefined)} transfer={transfer} rail={open.rail} />
    </>
  );
}
