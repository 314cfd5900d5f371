import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenParams, useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { balancesQuery, type Profile } from '~/customer/data.ts';
import { cx } from '~/lib/cx.ts';
import { addAmounts, fractionOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  EmptyState,
  Facts,
  Id,
  LinkButton,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
} from '~/ui/index.ts';
import { BalanceHistory } from '../overview/history.tsx';
import { Entries } from './entries.tsx';
import { Incoming } from './incoming.tsx';
import { Receiving } from './receiving.tsx';

export default function OneProfile() {
  const { id } = useScreenParams<{ id: string }>();
  const profile = useQuery({ queryKey: ['profiles', id], queryFn: () => ferry.getProfile({ id }) });
  if (profile.error !== null)
    return (
      <PageBody>
        <PageHeader title="Profile" back={{ to: '/profiles', label: 'Profiles' }} />
        <ProblemNotice error={profile.error} retry={() => void profile.refetch()} />
      </PageBody>
    );
  if (profile.data === undefined) return <Loading what="Loading the profile" />;
  return <Details profile={profile.data} />;
}

function Details({ profile }: { readonly profile: Profile }) {
  const search = useScreenSearch<{ asset?: string }>();
  const balances = useQuery(balancesQuery(profile.id));
  const asset = search.asset ?? balances.data?.[0]?.asset;
  const mayPay = useMay('transfer:write_platform_transfer');
  return (
    <>
      <PageHeader
        back={{ to: '/profiles', label: 'Profiles' }}
        title={profile.nickname}
        badge={profile.type === 'DEFAULT' && <Badge tone="accent">Default</Badge>}
      >
        <LinkButton
          to={`/statements?profile=${profile.id}${asset === undefined ? '' : `&asset=${asset}`}`}
          icon="download"
        >
          Statement
        </LinkButton>
        {mayPay && (
          <LinkButton to={`/new/platform-transfer?profile=${profile.id}`} variant="primary">
            Transfer
          </LinkButton>
        )}
      </PageHeader>
      <PageBody>
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]">
          <Panel title="Balances" flush>
            {balances.error !== null && <ProblemNotice error={balances.error} />}
            {balances.data === undefined ? <Loading /> : <Holdings balances={balances.data} asset={asset} />}
          </Panel>
          {asset !== undefined && (
            <Panel title={`${asset} over time`}>
              <BalanceHistory profileId={profile.id} asset={asset} />
            </Panel>
          )}
        </div>
        {asset !== undefined && <Entries profileId={profile.id} asset={asset} />}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Receiving profileId={profile.id} />
          <div className="flex flex-col gap-4">
            <Incoming profile={profile} />
            <Panel title="Details">
              <Facts
                facts={[
                  { name: 'Profile', value: <Id id={profile.id} of="profile id" whole /> },
                  { name: 'Type', value: words(profile.type) },
                  profile.description === undefined
                    ? undefined
                    : { name: 'Description', value: profile.description },
                  profile.account_id === undefined
                    ? undefined
                    : { name: 'Account', value: <Id id={profile.account_id} of="account id" whole /> },
                ]}
              />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

function Holdings({
  balances,
  asset,
}: {
  readonly balances: readonly { asset: string; available: string; held: string }[];
  readonly asset: string | undefined;
}) {
  const setSearch = useSetSearch();
  if (balances.length === 0)
    return (
      <EmptyState icon="vault" title="Nothing yet">
        Create a deposit address or deposit instructions below, or transfer from another profile.
      </EmptyState>
    );
  const fraction = fractionOf(balances.flatMap(({ available, held }) => [available, held]));
  return (
    <ul>
      {balances.map((one) => (
        <li key={one.asset} className="border-b border-line/60 last:border-0">
          <button
            type="button"
            aria-pressed={one.asset === asset}
            onClick={() => setSearch({ asset: one.asset })}
            className={cx(
              'flex w-full items-baseline justify-between gap-3 px-4 py-2.5 text-left text-sm hover:bg-hover',
              one.asset === asset && 'bg-accent-soft',
            )}
          >
            <span className="font-medium">{one.asset}</span>
            <span className="text-right">
              <Money
                amount={addAmounts(one.available, one.held)}
                fraction={fraction}
                className="font-medium"
              />
              <span className="block text-xs text-quiet">
                {one.held === '0' ? 'all available' : <>{<Money amount={one.held} />} held</>}
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
