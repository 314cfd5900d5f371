import { useQueries, useQuery } from '@tanstack/react-query';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { type Balance, balancesQuery, type Profile, profilesQuery } from '~/customer/data.ts';
import {
  EmptyState,
  Field,
  LinkButton,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Select,
} from '~/ui/index.ts';
import { Balances, Totals } from './balances.tsx';
import { Flow } from './flow.tsx';
import { BalanceHistory } from './history.tsx';
import { Limits } from './limits.tsx';
import { Pending, Recent } from './transfers.tsx';

/** Of more profiles, the balances are on their own screens: each is a request. */
const PROFILES_SHOWN = 12;

export type Holding = Balance & { readonly profile: Profile };

function useHoldings(profiles: readonly Profile[]): readonly Holding[] | undefined {
  const answers = useQueries({ queries: profiles.map(({ id }) => balancesQuery(id)) });
  if (answers.some(({ data }) => data === undefined)) return undefined;
  return profiles.flatMap((profile, index) =>
    answers[index]!.data!.map((balance) => ({ ...balance, profile })),
  );
}

export default function Overview() {
  const profiles = useQuery(profilesQuery);
  const mayCreate = useMay('transfer:write_platform_transfer');
  if (profiles.error !== null)
    return (
      <PageBody>
        <PageHeader title="Overview" />
        <ProblemNotice error={profiles.error} retry={() => void profiles.refetch()} />
      </PageBody>
    );
  return (
    <>
      <PageHeader title="Overview">
        {mayCreate && (
          <>
            <LinkButton to="/new/fiat-withdrawal">Withdraw</LinkButton>
            <LinkButton to="/new" variant="primary" icon="plus">
              New
            </LinkButton>
          </>
        )}
      </PageHeader>
      <PageBody>
        {profiles.data === undefined ? (
          <Loading />
        ) : profiles.data.length === 0 ? (
          <NoProfiles />
        ) : (
          <Filled profiles={profiles.data} />
        )}
      </PageBody>
    </>
  );
}

const NoProfiles = () => (
  <EmptyState
    icon="vault"
    title="No profile yet"
    action={
      <LinkButton to="/profiles?new=yes" variant="primary" icon="plus">
        Create a profile
      </LinkButton>
    }
  >
    A profile holds balances. Create one, then give it a deposit address or deposit instructions.
  </EmptyState>
);

function Filled({ profiles }: { readonly profiles: readonly Profile[] }) {
  const search = useScreenSearch<{ profile?: string; asset?: string }>();
  const setSearch = useSetSearch();
  const holdings = useHoldings(profiles.slice(0, PROFILES_SHOWN));
  const chosen = profiles.find(({ id }) => id === search.profile) ?? profiles[0]!;
  const own = holdings?.filter(({ profile }) => profile.id === chosen.id) ?? [];
  const assets = [
    ...new Set([...own.map(({ asset }) => asset), ...(holdings ?? []).map(({ asset }) => asset)]),
  ];
  const first = own.some((one) => one.asset === 'USD') ? 'USD' : (own[0]?.asset ?? assets[0] ?? 'USD');
  const asset = search.asset ?? first;
  const choose = (changes: { profile?: string; asset?: string }): void =>
    setSearch({ profile: chosen.id, asset, ...changes });
  return (
    <>
      <Totals holdings={holdings} />
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <Panel
          title="Balance over time"
          action={
            <div className="flex gap-2">
              <Field label="Profile" className="[&_label]:sr-only">
                {(wired) => (
                  <Select
                    {...wired}
                    className="max-w-24 sm:max-w-48"
                    value={chosen.id}
                    onChange={(event) => choose({ profile: event.target.value })}
                    options={profiles.map(({ id, nickname }) => ({ value: id, label: nickname }))}
                  />
                )}
              </Field>
              <Field label="Asset" className="[&_label]:sr-only">
                {(wired) => (
                  <Select
                    {...wired}
                    className="min-w-20"
                    value={asset}
                    onChange={(event) => choose({ asset: event.target.value })}
                    options={[...new Set([asset, ...assets])].map((one) => ({ value: one, label: one }))}
                  />
                )}
              </Field>
            </div>
          }
        >
          <BalanceHistory profileId={chosen.id} asset={asset} />
        </Panel>
        <Limits profile={chosen} asset={asset} />
      </div>
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        <Pending />
        <Recent />
      </div>
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        <Flow profileId={chosen.id} name={chosen.nickname} asset={asset} />
        <Balances
          holdings={holdings}
          isCut={profiles.length > PROFILES_SHOWN}
          onChoose={(one) => choose({ profile: one.profile.id, asset: one.asset })}
        />
      </div>
    </>
  );
}
