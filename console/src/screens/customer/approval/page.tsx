import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMe } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
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
  TextInput,
  Time,
  Timeline,
  toast,
} from '~/ui/index.ts';
import { Code } from '../webhook/delivery.tsx';

type Approval = components['schemas']['Approval'];

export default function OneApproval() {
  const { id } = useScreenParams<{ id: string }>();
  const approval = useQuery({
    queryKey: ['approvals', id],
    queryFn: () => ferry.getApproval({ id }),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? 3_000 : false),
  });
  const back = { to: '/approvals', label: 'Approvals' };
  if (approval.error !== null)
    return (
      <PageBody>
        <PageHeader title="Request" back={back} />
        <ProblemNotice error={approval.error} retry={() => void approval.refetch()} />
      </PageBody>
    );
  const one = approval.data;
  if (one === undefined) return <Loading what="Loading the request" />;
  return (
    <>
      <PageHeader
        title={words(one.action.replace(/^own_/, '').replace('.', ' '))}
        back={back}
        badge={<StatusBadge status={one.status} />}
      >
        <Votes one={one} />
      </PageHeader>
      <PageBody>
        <p className="rounded-lg border border-line bg-panel px-4 py-3 text-sm font-medium">{one.summary}</p>
        {one.problem !== undefined && (
          <p role="alert" className="rounded-lg bg-bad-soft px-4 py-3 text-sm text-bad">
            {one.problem.title}: {one.problem.detail}
          </p>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="Exactly what is proposed">
            <Code text={JSON.stringify(one.proposal, null, 2)} label="The proposal" />
          </Panel>
          <div className="flex flex-col gap-4">
            <Panel title="Votes">
              <Timeline
                items={[
                  {
                    id: 'proposed',
                    at: one.created_at,
                    title: 'Proposed',
                    by: (
                      <>
                        by <ActorName actor={one.maker} />
                      </>
                    ),
                  },
                  ...one.votes.map((vote) => ({
                    id: `${vote.created_at}${vote.by.id}`,
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
            <Panel title="Details">
              <Facts
                facts={[
                  { name: 'Request', value: <Id id={one.id} of="request id" whole /> },
                  { name: 'Digest', value: <Id id={one.digest} of="digest" /> },
                  { name: 'Must approve', value: one.quorum },
                  { name: 'Expires', value: <Time at={one.expires_at} /> },
                  one.result?.type === 'transfer'
                    ? {
                        name: 'Result',
                        value: (
                          <Link to={`/transfers/${one.result.id}`} className="text-accent hover:underline">
                            The transfer
                          </Link>
                        ),
                      }
                    : undefined,
                ]}
              />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

/** A vote names the digest of what is on the screen: nobody approves something else. */
function Votes({ one }: { readonly one: Approval }) {
  const me = useMe();
  const [asked, setAsked] = useState<'approve' | 'reject'>();
  const [reason, setReason] = useState('');
  const isMaker = one.maker.id === me.id;
  if (one.status !== 'PENDING' || !me.scopes.includes('control:approve')) return null;
  const isApproval = asked === 'approve';
  return (
    <>
      {isMaker ? (
        <span className="text-xs text-quiet">Somebody else has to approve what you proposed.</span>
      ) : (
        <Button variant="primary" icon="check" onClick={() => setAsked('approve')}>
          Approve
        </Button>
      )}
      <Button onClick={() => setAsked('reject')}>{isMaker ? 'Withdraw' : 'Reject'}</Button>
      <ConfirmDialog
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={isApproval ? 'Approve this request?' : 'Reject this request?'}
        description={one.summary}
        action={isApproval ? 'Approve it' : 'Reject it'}
        danger={!isApproval}
        isReady={isApproval || reason.trim() !== ''}
        onConfirm={async () => {
          const vote = { id: one.id, digest: one.digest };
          await (isApproval
            ? ferry.approveApproval({ ...vote, ...(reason.trim() !== '' && { reason: reason.trim() }) })
            : ferry.rejectApproval({ ...vote, reason: reason.trim() }));
          await queryClient.invalidateQueries();
          toast(isApproval ? 'Approved.' : 'Rejected.');
        }}
      >
        <Field label="Reason" hint={isApproval ? 'Optional' : 'The maker sees it.'}>
          {(wired) => (
            <TextInput {...wired} value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
      </ConfirmDialog>
    </>
  );
}
