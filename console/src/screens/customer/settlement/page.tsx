import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenParams } from '~/app/navigation.ts';
import { ChangeLog } from '~/customer/change-log.tsx';
import { profilesQuery, useProfileName } from '~/customer/data.ts';
import {
  Facts,
  Id,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Sentence,
  StatusBadge,
  Time,
} from '~/ui/index.ts';
import { Answers } from '../settlements/board.tsx';
import { Countdown } from '../settlements/countdown.tsx';
import { OwnLegs } from '../settlements/legs.tsx';

const AGAIN_MS = 2_000;
const OPEN = ['PENDING', 'AFFIRMED'];

export default function OneSettlement() {
  const { id } = useScreenParams<{ id: string }>();
  const nameOf = useProfileName();
  const profiles = useQuery(profilesQuery);
  const found = useQuery({
    queryKey: ['settlements', id],
    queryFn: () => ferry.getSettlementTransaction({ id }),
    refetchInterval: ({ state }) => (OPEN.includes(state.data?.status ?? '') ? AGAIN_MS : false),
  });
  const back = { to: '/settlements', label: 'Settlement' };
  if (found.error !== null)
    return (
      <PageBody>
        <PageHeader title="Settlement transaction" back={back} />
        <ProblemNotice error={found.error} retry={() => void found.refetch()} />
      </PageBody>
    );
  const one = found.data;
  if (one === undefined || profiles.data === undefined) return <Loading what="Loading the transaction" />;
  const own = new Set(profiles.data.map((profile) => profile.id));
  const party = (profileId: string) => (
    <>
      {nameOf(profileId)} <Id id={profileId} of="profile id" />
    </>
  );
  return (
    <>
      <PageHeader title="Settlement transaction" back={back} badge={<StatusBadge status={one.status} />}>
        <Answers one={one} own={own} />
      </PageHeader>
      <PageBody>
        {one.secondary_status !== undefined && (
          <p className="flex flex-wrap justify-between gap-3 rounded-lg border border-line bg-panel px-4 py-3 text-sm">
            <Sentence text={one.secondary_status.detail} nameOf={nameOf} />
            <Countdown start={one.settlement_window_start} end={one.settlement_window_end} />
          </p>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="What happened">
            <ChangeLog resourceId={id} updated={one.updated_at} />
          </Panel>
          <div className="flex flex-col gap-4">
            <Panel title="Legs">
              <OwnLegs legs={one.legs} isSource={own.has(one.source_profile_id)} />
            </Panel>
            <Panel title="Details">
              <Facts
                facts={[
                  { name: 'Transaction', value: <Id id={one.id} of="transaction id" whole /> },
                  { name: 'Offered by', value: party(one.source_profile_id) },
                  { name: 'Affirmed by', value: party(one.target_profile_id) },
                  { name: 'Reference', value: <Id id={one.ref_id} of="ref_id" whole /> },
                  { name: 'Window opens', value: <Time at={one.settlement_window_start} /> },
                  { name: 'Window closes', value: <Time at={one.settlement_window_end} /> },
                  { name: 'Created', value: <Time at={one.created_at} /> },
                  { name: 'Updated', value: <Time at={one.updated_at} /> },
                ]}
              />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}
