import type { Answer, Input } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { counted } from '~/lib/words.ts';
import {
  Button,
  Checkbox,
  ConfirmDialog,
  ProblemNotice,
  StatusBadge,
  TextArea,
  TextInput,
  toast,
} from '~/ui/index.ts';
import type { Policy } from './page.tsx';

type Request = Input<'changeOwnPolicy'>;

const EXAMPLE = [{ type: 'approval', name: 'large payments', asset: 'USD', above: '50000' }];

function rulesFault(text: string): string | undefined {
  try {
    return Array.isArray(JSON.parse(text)) ? undefined : 'A JSON list of rules.';
  } catch (error) {
    return `Not valid JSON: ${(error as Error).message}`;
  }
}

/** A change appends a version. The dry run says what it would have done to the withdrawals of the last 30 days. */
export function PolicyEditor({
  policy,
  onClose,
}: {
  readonly policy: Policy | undefined;
  readonly onClose: () => void;
}) {
  const [enabled, setEnabled] = useState(policy?.enabled ?? true);
  const [dry, setDry] = useState<Answer<'dryRunOwnPolicy'>>();
  const [busy, setBusy] = useState(false);
  const form = useForm(
    { name: policy?.name ?? '', rules: JSON.stringify(policy?.rules ?? EXAMPLE, null, 2), reason: '' },
    (values) => ({
      name: required(values.name, 'a name'),
      rules: rulesFault(values.rules),
      reason: required(values.reason, 'why it is changed'),
    }),
  );
  const { name, rules, reason } = form.values;
  const scope = policy?.applies_to === undefined ? {} : { applies_to: policy.applies_to };
  async function run(): Promise<void> {
    setBusy(true);
    try {
      setDry(await ferry.dryRunOwnPolicy({ ...scope, rules: JSON.parse(rules) as Request['rules'] }));
    } catch (error) {
      form.refuse(error);
    } finally {
      setBusy(false);
    }
  }
  async function save(): Promise<void> {
    const answer: unknown = await ferry
      .changeOwnPolicy({
        ...scope,
        name: name.trim(),
        enabled,
        rules: JSON.parse(rules) as Request['rules'],
        reason: reason.trim(),
      })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast(
      (answer as { digest?: string }).digest === undefined
        ? 'The policy is in force as saved.'
        : 'Proposed. Somebody else has to approve it.',
    );
  }
  return (
    <ConfirmDialog
      open
      wide
      onClose={onClose}
      title={policy === undefined ? 'New policy' : `Change “${policy.name}”`}
      description="Try it first: the dry run examines the withdrawals of the last 30 days, and changes nothing."
      action="Save"
      isReady={form.isValid}
      onConfirm={save}
    >
      <FormField
        form={form}
        name="name"
        label="Name"
        hint="An existing policy of that name gets a new version."
      >
        {(wired) => <TextInput {...wired} readOnly={policy !== undefined} />}
      </FormField>
      <FormField
        form={form}
        name="rules"
        label="Rules"
        hint="Types: amount_limit, velocity, destinations, business_hours, approval, screening"
      >
        {(wired) => <TextArea {...wired} rows={10} className="font-mono text-xs" />}
      </FormField>
      <FormField form={form} name="reason" label="Reason">
        {(wired) => <TextInput {...wired} />}
      </FormField>
      <Checkbox label="In force" checked={enabled} onChange={(event) => setEnabled(event.target.checked)} />
      <div>
        <Button busy={busy} disabled={rulesFault(rules) !== undefined} onClick={() => void run()}>
          Dry run
        </Button>
      </div>
      {form.refused !== undefined && <ProblemNotice error={form.refused} />}
      {dry !== undefined && (
        <section aria-label="Result of the dry run" className="rounded-lg border border-line p-3 text-sm">
          <p>
            Of {counted(dry.examined, 'withdrawal')} {dry.passed} would have passed, {dry.held} been held,{' '}
            {dry.refused} refused.
          </p>
          <ul className="mt-2 flex max-h-48 flex-col gap-1 overflow-y-auto">
            {dry.withdrawals.map((one) => (
              <li key={one.transfer_id} className="flex flex-wrap items-center gap-2 text-xs">
                <StatusBadge status={one.outcome} />
                <Link to={`/transfers/${one.transfer_id}`} className="hover:underline">
                  {one.detail}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </ConfirmDialog>
  );
}
