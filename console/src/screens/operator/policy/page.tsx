import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenParams, useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  Changes,
  Facts,
  Id,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Tabs,
  Time,
  Timeline,
} from '~/ui/index.ts';
import { ActorText, Customer } from '../parts/show.tsx';
import { PolicyEditor } from './editor.tsx';
import { ruleInWords, scopeInWords } from './words.ts';

export type Policy = components['schemas']['Policy'];
const BACK = { to: '/operator/policies', label: 'Policies' };

export default function OnePolicy() {
  const { id } = useScreenParams<{ id: string }>();
  if (id === 'new')
    return (
      <>
        <PageHeader title="New policy" back={BACK} />
        <PageBody>
          <PolicyEditor />
        </PageBody>
      </>
    );
  return <Existing id={id} />;
}

function Existing({ id }: { readonly id: string }) {
  const read = useQuery({ queryKey: ['policy', id], queryFn: () => ferry.getPolicy({ id }) });
  if (read.error !== null)
    return (
      <>
        <PageHeader title="Policy" back={BACK} />
        <PageBody>
          <ProblemNotice error={read.error} retry={() => void read.refetch()} />
        </PageBody>
      </>
    );
  if (read.data === undefined) return <Loading what="Loading the policy" />;
  return <Details policy={read.data} />;
}

function Details({ policy }: { readonly policy: Policy }) {
  const { tab = 'rules' } = useScreenSearch<{ tab?: string }>();
  const setSearch = useSetSearch();
  // A policy of a customer is changed by the customer.
  const mayChange = useMay('operator:admin') && policy.customer_id === undefined;
  return (
    <>
      <PageHeader
        title={policy.name}
        back={BACK}
        badge={policy.enabled ? <Badge tone="good">In force</Badge> : <Badge>Off</Badge>}
      />
      <PageBody>
        <Tabs
          value={tab}
          onChange={(next) => setSearch(next === 'rules' ? {} : { tab: next })}
          tabs={[
            { id: 'rules', label: 'Rules', content: <Rules policy={policy} /> },
            ...(mayChange
              ? [
                  {
                    id: 'change',
                    label: 'Change and try',
                    content: <PolicyEditor key={policy.version} policy={policy} />,
                  },
                ]
              : []),
            { id: 'versions', label: 'Versions', content: <Versions id={policy.id} /> },
          ]}
        />
      </PageBody>
    </>
  );
}

function Rules({ policy }: { readonly policy: Policy }) {
  return (
    <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[3fr_2fr]">
      <Panel title="Rules" flush>
        <ol>
          {policy.rules.map((rule) => (
            <li key={rule.name} className="border-b border-line/60 px-4 py-3 last:border-0">
              <p className="text-sm font-medium">{rule.name}</p>
              <p className="text-sm">{ruleInWords(rule)}</p>
              <p className="text-xs text-quiet">{words(rule.type)}</p>
            </li>
          ))}
        </ol>
      </Panel>
      <Panel title="Policy">
        <Facts
          facts={[
            { name: 'About', value: scopeInWords(policy.applies_to) },
            {
              name: 'Of',
              value: policy.customer_id === undefined ? 'the operator' : <Customer id={policy.customer_id} />,
            },
            { name: 'Version', value: `${policy.version}` },
            { name: 'Changed', value: <Time at={policy.updated_at} /> },
            { name: 'By', value: <ActorText text={policy.changed_by} /> },
            { name: 'Because', value: policy.reason },
            { name: 'Policy', value: <Id id={policy.id} of="policy id" whole /> },
          ]}
        />
      </Panel>
    </div>
  );
}

function Versions({ id }: { readonly id: string }) {
  const read = useQuery({
    queryKey: ['policy-versions', id],
    queryFn: () => ferry.listPolicyVersions({ id }),
  });
  if (read.error !== null) return <ProblemNotice error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <Loading />;
  const oldestFirst = [...read.data.items].reverse();
  const shown = ({ enabled, applies_to, rules }: Policy) => ({ enabled, applies_to, rules });
  return (
    <Panel>
      <Timeline
        items={oldestFirst.map((one, index) => {
          const before = oldestFirst[index - 1];
          return {
            id: `${one.version}`,
            at: one.updated_at,
            title: `Version ${one.version}`,
            tone: one.enabled ? ('good' as const) : ('neutral' as const),
            by: (
              <>
                by <ActorText text={one.changed_by} />
              </>
            ),
            children: (
              <div className="flex flex-col gap-2">
                <p>{one.reason}</p>
                {before !== undefined && <Changes before={shown(before)} after={shown(one)} />}
              </div>
            ),
          };
        })}
      />
    </Panel>
  );
}
