import { words } from '~/lib/words.ts';
import { AmountInput, Checkbox, Field, IconButton, Panel, Select, TextInput } from '~/ui/index.ts';
import { type Rule, ruleInWords } from './words.ts';

const TYPES = [
  'amount_limit',
  'velocity',
  'approval',
  'destinations',
  'business_hours',
  'screening',
] as const satisfies readonly Rule['type'][];

/** A rule whose fields are texts, as they are typed. */
export type DraftRule = {
  readonly type: Rule['type'];
  readonly name: string;
  readonly texts: Readonly<Record<string, string>>;
  readonly listedOnly: boolean;
};

const DEFAULTS: Readonly<Record<Rule['type'], Readonly<Record<string, string>>>> = {
  amount_limit: { asset: 'USD', max: '' },
  velocity: { asset: 'USD', max: '', window: 'DAY', per: 'CUSTOMER' },
  approval: { asset: 'USD', above: '' },
  destinations: { cooling_off_hours: '24' },
  business_hours: { time_zone: 'UTC', days: 'MON, TUE, WED, THU, FRI', from: '09:00', to: '17:00' },
  screening: { hook: '' },
};

export const blankRule = (type: Rule['type']): DraftRule => ({
  type,
  name: words(type).toLowerCase(),
  texts: DEFAULTS[type],
  listedOnly: false,
});

export function draftOf({ type, name, listed_only: listedOnly = false, ...rest }: Rule): DraftRule {
  const texts = Object.fromEntries(
    Object.entries(rest).map(([field, value]) => [
      field,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
  return { type, name, texts, listedOnly };
}

/** As the operation wants it: only the fields of its type. */
export function documentOf({ type, name, texts, listedOnly }: DraftRule): Rule {
  const fields = Object.keys(DEFAULTS[type]).map((field) => {
    const text = (texts[field] ?? '').trim();
    if (field === 'cooling_off_hours') return [field, Number(text)];
    return [field, field === 'days' ? text.split(/[\s,]+/).filter((day) => day !== '') : text];
  });
  return {
    type,
    name,
    ...Object.fromEntries(fields),
    ...(type === 'destinations' && { listed_only: listedOnly }),
  } as Rule;
}

const LABELS: Readonly<Record<string, readonly [label: string, hint?: string]>> = {
  asset: ['Asset'],
  max: ['At most', 'Without fees. More is refused.'],
  above: ['Approval above', '0: every withdrawal is held'],
  window: ['Within'],
  per: ['Of'],
  cooling_off_hours: ['Hours to cool off', '0: none'],
  time_zone: ['Time zone', 'Such as America/New_York'],
  days: ['Days', 'MON, TUE, …'],
  from: ['From'],
  to: ['To', '24:00 for midnight'],
  hook: ['Screening', 'As the configuration file names it'],
};
const CHOICES: Readonly<Record<string, readonly { value: string; label: string }[]>> = {
  window: [
    { value: 'HOUR', label: 'the last 60 minutes' },
    { value: 'DAY', label: 'the last 24 hours' },
    { value: 'WEEK', label: 'the last 7 days' },
  ],
  per: [
    { value: 'PROFILE', label: 'each profile' },
    { value: 'CUSTOMER', label: 'each customer' },
    { value: 'ALL', label: 'all customers together' },
  ],
};
const AMOUNTS = new Set(['max', 'above']);

export function RuleFields({
  rule,
  onChange,
}: {
  readonly rule: DraftRule;
  readonly onChange: (next: DraftRule | undefined) => void;
}) {
  const { type, texts } = rule;
  const set = (field: string, value: string): void =>
    onChange({ ...rule, texts: { ...texts, [field]: value } });
  return (
    <Panel
      title={rule.name === '' ? 'Rule' : rule.name}
      action={
        <IconButton label={`Remove the rule ${rule.name}`} icon="close" onClick={() => onChange(undefined)} />
      }
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="What it does">
          {(wired) => (
            <Select
              {...wired}
              value={type}
              onChange={(event) => onChange(blankRule(event.target.value as Rule['type']))}
              options={TYPES.map((value) => ({ value, label: words(value) }))}
            />
          )}
        </Field>
        <Field label="Name" hint="Refusals and holds show it">
          {(wired) => (
            <TextInput
              {...wired}
              value={rule.name}
              onChange={(event) => onChange({ ...rule, name: event.target.value })}
            />
          )}
        </Field>
        {Object.keys(DEFAULTS[type]).map((field) => {
          const [label, hint] = LABELS[field]!;
          const Control = AMOUNTS.has(field) ? AmountInput : TextInput;
          return (
            <Field key={field} label={label} {...(hint !== undefined && { hint })}>
              {(wired) =>
                CHOICES[field] === undefined ? (
                  <Control
                    {...wired}
                    value={texts[field] ?? ''}
                    onChange={(event) => set(field, event.target.value)}
                  />
                ) : (
                  <Select
                    {...wired}
                    value={texts[field] ?? ''}
                    onChange={(event) => set(field, event.target.value)}
                    options={CHOICES[field]}
                  />
                )
              }
            </Field>
          );
        })}
        {type === 'destinations' && (
          <Checkbox
            label="Only destinations that the customer has listed"
            checked={rule.listedOnly}
            onChange={(event) => onChange({ ...rule, listedOnly: event.target.checked })}
          />
        )}
      </div>
      <p className="mt-3 text-xs text-quiet">{ruleInWords(documentOf(rule))}</p>
    </Panel>
  );
}
