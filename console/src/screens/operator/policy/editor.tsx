import type { components, Input } from '@ferry/client';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { counted } from '~/lib/words.ts';
import {
  Badge,
  Button,
  Checkbox,
  EmptyState,
  Field,
  Panel,
  ProblemNotice,
  TextInput,
  Time,
} from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import type { Policy } from './page.tsx';
import { blankRule, type DraftRule, documentOf, draftOf, RuleFields } from './rule-fields.tsx';

type DryRun = components['schemas']['PolicyDryRun'];
type Document = Input<'dryRunPolicy'>;

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '');

/** A policy as a form. It can be tried on the withdrawals of the last 30 days before anything is changed. */
export function PolicyEditor({ policy }: { readonly policy?: Policy }) {
  const scope = policy?.applies_to;
  const [name, setName] = useState(policy?.name ?? '');
  const [enabled, setEnabled] = useState(policy?.enabled ?? true);
  const [rails, setRails] = useState(scope?.rails?.join(', ') ?? '');
  const [assets, setAssets] = useState(scope?.assets?.join(', ') ?? '');
  const [rules, setRules] = useState<readonly DraftRule[]>(
    policy === undefined ? [blankRule('amount_limit')] : policy.rules.map(draftOf),
  );
  const [saves, setSaves] = useState(false);
  const [result, setResult] = useState<{ readonly found?: DryRun; readonly error?: unknown }>({});
  const [busy, setBusy] = useState(false);

  const appliesTo = {
    ...scope,
    ...(rails.trim() === '' ? { rails: undefined } : { rails: listOf(rails) }),
    ...(assets.trim() === '' ? { assets: undefined } : { assets: listOf(assets) }),
  };
  const isAbout = Object.values(appliesTo).some((value) => value !== undefined);
  const document = {
    ...(isAbout && { applies_to: JSON.parse(JSON.stringify(appliesTo)) as object }),
    rules: rules.map(documentOf),
  } as Document;

  async function tryOut(): Promise<void> {
    setBusy(true);
    try {
      setResult({ found: await ferry.dryRunPolicy(document) });
    } catch (error) {
      setResult({ error });
    } finally {
      setBusy(false);
    }
  }
  const change = (index: number, next: DraftRule | undefined): void =>
    setRules(rules.flatMap((rule, at) => (at === index ? (next ?? []) : rule)));
  return (
    <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[3fr_2fr]">
      <form
        className="flex min-w-0 flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void tryOut();
        }}
      >
        <Panel title="Which withdrawals">
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            <Field label="Name" hint={policy === undefined ? 'Unique' : 'It cannot be changed.'}>
              {(wired) => (
                <TextInput
                  {...wired}
                  value={name}
                  readOnly={policy !== undefined}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
            <div className="flex items-center pt-4">
              <Checkbox
                label="In force"
                checked={enabled}
                onChange={(event) => setEnabled(event.target.checked)}
              />
            </div>
            <Field label="Rails" hint="Empty: all. Such as wire, BITCOIN">
              {(wired) => (
                <TextInput {...wired} value={rails} onChange={(event) => setRails(event.target.value)} />
              )}
            </Field>
            <Field label="Assets" hint="Empty: all. Such as USD, BTC">
              {(wired) => (
                <TextInput {...wired} value={assets} onChange={(event) => setAssets(event.target.value)} />
              )}
            </Field>
          </div>
        </Panel>
        {rules.map((rule, index) => (
          // Rules have no id, and are only added at the end.
          // biome-ignore lint/suspicious/noArrayIndexKey: the place of a rule is its identity here
          <RuleFields key={index} rule={rule} onChange={(next) => change(index, next)} />
        ))}
        <div className="flex flex-wrap gap-2">
          <Button icon="plus" onClick={() => setRules([...rules, blankRule('approval')])}>
            Add a rule
          </Button>
          <span className="flex-1" />
          <Button type="submit" icon="clock" busy={busy}>
            Try it on the last 30 days
          </Button>
          <Button variant="primary" onClick={() => setSaves(true)} disabled={name.trim() === ''}>
            {policy === undefined ? 'Create' : 'Save as a new version'}
          </Button>
        </div>
      </form>
      <Panel title="What it would have done" flush>
        <DryRunResult {...result} />
      </Panel>
      <ActDialog
        open={saves}
        onClose={() => setSaves(false)}
        title={policy === undefined ? 'Create the policy' : `Save version ${policy.version + 1}`}
        description={
          enabled
            ? 'From then on, every withdrawal that it is about is decided by it. Those that were accepted before are not touched.'
            : 'It is not in force: nothing is decided by it.'
        }
        action={policy === undefined ? 'Create' : 'Save'}
        act={({ reason }) => ferry.changePolicy({ name: name.trim(), enabled, ...document, reason })}
        done={enabled ? 'The policy is in force.' : 'Saved. The policy is not in force.'}
      />
    </div>
  );
}

function DryRunResult({ found, error }: { readonly found?: DryRun; readonly error?: unknown }) {
  if (error !== undefined)
    return (
      <div className="p-4">
        <ProblemNotice error={error} />
      </div>
    );
  if (found === undefined)
    return (
      <EmptyState icon="clock" title="Not tried yet">
        The rules are evaluated on the withdrawals of the last 30 days, each at its own time. Nothing is
        stored.
      </EmptyState>
    );
  const { examined, passed, held, refused, complete, withdrawals, from } = found;
  return (
    <div>
      <dl className="grid grid-cols-4 divide-x divide-line border-b border-line text-center">
        {(
          [
            ['Examined', examined, 'text-ink'],
            ['Passed', passed, 'text-good'],
            ['Held', held, 'text-warn'],
            ['Refused', refused, 'text-bad'],
          ] as const
        ).map(([label, count, tone]) => (
          <div key={label} className="flex flex-col-reverse py-3">
            <dt className="text-xs text-quiet">{label}</dt>
            <dd className={`tabular text-lg font-semibold ${tone}`}>{count.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
      <p className="border-b border-line/60 px-4 py-2 text-xs text-quiet">
        {complete ? 'All withdrawals' : `The latest ${counted(examined, 'withdrawal')}`} since{' '}
        <Time at={from} form="short" />
      </p>
      <ul>
        {withdrawals.map((one) => (
          <li key={one.transfer_id} className="border-b border-line/60 px-4 py-2 text-sm last:border-0">
            <div className="flex items-center gap-2">
              <Badge tone={one.outcome === 'HELD' ? 'warn' : 'bad'}>
                {one.outcome === 'HELD' ? 'Held' : 'Refused'}
              </Badge>
              <Link
                to={`/operator/withdrawals/${one.transfer_id}`}
                className="min-w-0 flex-1 truncate font-medium hover:underline"
              >
                {one.rule}
              </Link>
              <span className="text-xs text-quiet">
                <Time at={one.created_at} form="short" />
              </span>
            </div>
            <p className="text-xs text-quiet">{one.detail}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}
