import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay, useMe } from '~/app/session.ts';
import { counted, words } from '~/lib/words.ts';
import {
  ActorName,
  Button,
  ConfirmDialog,
  Facts,
  Field,
  Id,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  StatusBadge,
  TextArea,
  Time,
  Timeline,
  toast,
} from '~/ui/index.ts';
import type { Approval } from './effects.ts';
import { WhatHappens } from './what-happens.tsx';

/** Requests of the operator and of a customer are decided in the same way, with operations of their own. */
export type Deciding = {
  /** The list of requests. */
  readonly list: string;
  /** Of those who vote. */
  readonly scope: string;
  read(id: string): Promise<Approval>;
  approve(vote: { id: string; digest: string; reason?: string }): Promise<Approval>;
  reject(vote: { id: string; digest: string; reason: string }): Promise<Approval>;
  /** Where what it made is shown, by its type. */
  readonly results: Readonly<Record<string, (id: string) => string>>;
};

const PENDING_AGAIN_MS = 5_000;

export function OneApproval({ deciding }: { readonly deciding: Deciding }) {
  const { id } = useScreenParams<{ id: string }>();
  const back = { to: deciding.list, label: 'Approvals' };
  const read = useQuery({
    queryKey: ['approval', deciding.list, id],
    queryFn: () => deciding.read(id),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? PENDING_AGAIN_MS : false),
  });
  if (read.error !== null)
    return (
      <>
        <PageHeader title="Approval" back={back} />
        <PageBody>
          <ProblemNotice error={read.error} retry={() => void read.refetch()} />
        </PageBody>
      </>
    );
  if (read.data === undefined) return <Loading what="Loading the request" />;
  return <Details approval={read.data} deciding={deciding} />;
}

type Shown = { readonly approval: Approval; readonly deciding: Deciding };

function Details({ approval, deciding }: Shown) {
  const back = { to: deciding.list, label: 'Approvals' };
  const { status, summary, problem, result, votes, quorum, maker } = approval;
  return (
    <>
      <PageHeader title={summary} back={back} badge={<StatusBadge status={status} />}>
        {status === 'PENDING' && <Votes approval={approval} deciding={deciding} />}
      </PageHeader>
      <PageBody>
        {problem !== undefined && (
          <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm">
            <p className="font-medium text-bad">{problem.title}</p>
            <p>{problem.detail} Nothing was executed.</p>
          </div>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[3fr_2fr]">
          <Panel title={status === 'EXECUTED' ? 'What happened' : 'What will happen'}>
            <WhatHappens approval={approval} />
          </Panel>
          <div className="flex min-w-0 flex-col gap-4">
            <Panel title={`Votes: ${votes.length} of ${counted(quorum, 'approval')}`}>
              <Timeline
                items={[
                  {
                    id: 'proposed',
                    at: approval.created_at,
                    title: 'Proposed',
                    tone: 'accent',
                    by: (
                      <>
                        by <ActorName actor={maker} />
                      </>
                    ),
                  },
                  ...votes.map((vote) => ({
                    id: vote.created_at,
                    at: vote.created_at,
                    title: words(vote.decision),
                    tone: vote.decision === 'APPROVED' ? ('good' as const) : ('bad' as const),
                    by: (
                      <>
                        by <ActorName actor={vote.by} />
                      </>
                    ),
                    children: vote.reason,
                  })),
                ]}
              />
            </Panel>
            <Panel title="Request">
              <Facts
                facts={[
                  { name: 'Action', value: <code className="font-mono text-xs">{approval.action}</code> },
                  { name: 'Request', value: <Id id={approval.id} of="request id" whole /> },
                  { name: 'Digest', value: <Id id={approval.digest} of="digest" whole /> },
                  status === 'PENDING'
                    ? { name: 'Expires', value: <Time at={approval.expires_at} /> }
                    : { name: 'Decided', value: <Time at={approval.updated_at} /> },
                  result === undefined
                    ? undefined
                    : {
                        name: 'Result',
                        value: (
                          <span className="inline-flex flex-wrap items-center gap-2">
                            {words(result.type)} <Id id={result.id} of={`${result.type} id`} />
                            <ResultLink to={deciding.results[result.type]?.(result.id)} />
                          </span>
                        ),
                      },
                ]}
              />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

const ResultLink = ({ to }: { readonly to: string | undefined }) =>
  to === undefined ? null : (
    <Link to={to} className="text-accent hover:underline">
      Open
    </Link>
  );

/** A vote names the digest of what is on the screen: nobody approves something else. */
function Votes({ approval, deciding }: Shown) {
  const [vote, setVote] = useState<'approve' | 'reject'>();
  const [reason, setReason] = useState('');
  const mayVote = useMay(deciding.scope);
  const isMaker = useMe().id === approval.maker.id;
  const { id, digest, summary, quorum, votes } = approval;
  const isLast = votes.length + 1 >= quorum;
  if (!mayVote) return <p className="text-xs text-quiet">Somebody with the role approver decides this.</p>;
  const send = async (): Promise<void> => {
    const given = reason.trim();
    const answer =
      vote === 'approve'
        ? await deciding.approve({ id, digest, ...(given !== '' && { reason: given }) })
        : await deciding.reject({ id, digest, reason: given });
    await queryClient.invalidateQueries();
    if (answer.status === 'FAILED') toast('Approved, but the execution was refused.', 'bad');
    else toast(answer.status === 'EXECUTED' ? 'Approved and executed.' : words(answer.status));
  };
  return (
    <>
      {isMaker ? (
        <span className="text-xs text-quiet">Somebody else has to approve what you proposed.</span>
      ) : (
        <Button variant="primary" icon="check" onClick={() => setVote('approve')}>
          Approve
        </Button>
      )}
      <Button icon="close" onClick={() => setVote('reject')}>
        {isMaker ? 'Withdraw' : 'Reject'}
      </Button>
      <ConfirmDialog
        open={vote !== undefined}
        onClose={() => setVote(undefined)}
        title={vote === 'approve' ? 'Approve this request' : 'Reject this request'}
        description={summary}
        action={vote === 'approve' ? 'Approve' : 'Reject'}
        danger={vote === 'reject'}
        isReady={vote === 'approve' || reason.trim() !== ''}
        onConfirm={send}
      >
        <p className="text-sm">
          {vote === 'approve'
            ? isLast
              ? 'This is the last vote that it needs: the action is executed at once.'
              : `It needs ${counted(quorum - votes.length - 1, 'more approval')} after yours.`
            : 'The request ends. Nothing is executed.'}
        </p>
        <p className="text-xs text-quiet">
          Your vote is about exactly what you see. Its digest is{' '}
          <code className="font-mono break-all">{digest}</code>
        </p>
        <Field label={vote === 'approve' ? 'Reason (optional)' : 'Reason'}>
          {(wired) => (
            <TextArea
              {...wired}
              rows={2}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
      </ConfirmDialog>
    </>
  );
}
