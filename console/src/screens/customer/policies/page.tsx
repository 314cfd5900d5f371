import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { formatAmount } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  Button,
  EmptyState,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Time,
} from '~/ui/index.ts';
import { Destinations } from './destinations.tsx';
import { PolicyEditor } from './editor.tsx';

export type Policy = components['schemas']['Policy'];
type Rule = components['schemas']['PolicyRule'];

const WINDOWS = { HOUR: 'an hour', DAY: '24 hours', WEEK: '7 days' } as const;

/** A rule as a sentence. */
function sentenceOf(rule: Rule): string {
  const { type, asset = '', max = '0', above = '0' } = rule;
  switch (type) {
    case 'amount_limit':
      return `One withdrawal of more than ${formatAmount(max)} ${asset} is refused.`;
    case 'velocity':
      return `More than ${formatAmount(max)} ${asset} in ${WINDOWS[rule.window ?? 'DAY']} per ${words(rule.per ?? 'CUSTOMER').toLowerCase()} is refused.`;
    case 'destinations':
      return [
        rule.listed_only === true ? 'A destination that is not listed is refused.' : '',
        rule.cooling_off_hours === undefined
          ? ''
          : `A new destination is held for ${rule.cooling_off_hours} hours.`,
      ].join(' ');
    case 'business_hours':
      return `Outside ${rule.days?.map(words).join(', ')} ${rule.from}–${rule.to} (${rule.time_zone}), withdrawals are held.`;
    case 'approval':
      return above === '0'
        ? 'Every withdrawal is held until it is approved.'
        : `A withdrawal of more than ${formatAmount(above)} ${asset} is held until it is approved.`;
    default:
      return `Every withdrawal is held until “${rule.hook}” has passed it.`;
  }
}

export default function Policies() {
  const { edit } = useScreenSearch<{ edit?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('policy:write_policy');
  const policies = useQuery({
    queryKey: ['policies'],
    queryFn: async () => (await ferry.listOwnPolicies({ limit: 100 })).items,
  });
  const edited = policies.data?.find(({ id }) => id === edit);
  return (
    <>
      <PageHeader title="Policies">
        {mayWrite && (
          <Button variant="primary" icon="plus" onClick={() => setSearch({ edit: 'new' })}>
            New policy
          </Button>
        )}
      </PageHeader>
      <PageBody>
        {policies.error !== null && (
          <ProblemNotice error={policies.error} retry={() => void policies.refetch()} />
        )}
        {policies.data === undefined && policies.error === null && <Loading />}
        {policies.data?.length === 0 && (
          <EmptyState icon="policy" title="No policy of your own">
            A policy limits withdrawals, holds them for an approval, or restricts where and when they go. The
            operator may have policies as well; the strictest one decides.
          </EmptyState>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          {policies.data?.map((one) => (
            <One key={one.id} policy={one} {...(mayWrite && { onEdit: () => setSearch({ edit: one.id }) })} />
          ))}
        </div>
        <Destinations />
      </PageBody>
      {mayWrite && edit !== undefined && (edit === 'new' || edited !== undefined) && (
        <PolicyEditor key={edit} policy={edited} onClose={() => setSearch({})} />
      )}
    </>
  );
}

function One({ policy, onEdit }: { readonly policy: Policy; readonly onEdit?: () => void }) {
  const scope = Object.entries(policy.applies_to ?? {}).map(
    ([name, values]) => `${words(name)}: ${values.join(', ')}`,
  );
  return (
    <Panel
      title={policy.name}
      action={
        <>
          <Badge tone={policy.enabled ? 'good' : 'neutral'}>{policy.enabled ? 'In force' : 'Off'}</Badge>
          {onEdit !== undefined && (
            <Button variant="ghost" onClick={onEdit}>
              Change
            </Button>
          )}
        </>
      }
    >
      <ul className="flex flex-col gap-2 text-sm">
        {policy.rules.map((rule) => (
          <li key={rule.name}>
            <p className="font-medium">{rule.name}</p>
            <p className="text-quiet">{sentenceOf(rule)}</p>
          </li>
        ))}
      </ul>
      <p className="mt-3 border-t border-line pt-2 text-xs text-quiet">
        {scope.length > 0 && `${scope.join(' · ')} · `}
        Version {policy.version}, <Time at={policy.updated_at} form="short" />: {policy.reason}
      </p>
    </Panel>
  );
}
