import { type Form, FormField, type Values } from '~/customer/form.tsx';
import { ProfileSelect } from '~/customer/picks.tsx';
import { Summary } from '~/customer/summary.tsx';
import { compareAmounts, formatAmount } from '~/lib/money.ts';
import { AmountInput, Select, TextInput } from '~/ui/index.ts';
import { Pair } from './frame.tsx';
import { overdraft, split } from './money.ts';

/** What every withdrawal asks for, whatever it is paid through. */
export type WithdrawalValues = Values & {
  readonly profile_id: string;
  readonly amount: string;
  /** Whether the amount includes the fee. */
  readonly includes: string;
  readonly memo: string;
  readonly ref_id: string;
};

export const WITHDRAWAL_VALUES = { amount: '', includes: 'no', memo: '', ref_id: '' };

export const givenOf = ({ amount, includes }: WithdrawalValues, fee: string) =>
  split(amount, includes === 'yes', fee);

/** Besides the syntax: more than the fee, and no more than there is. */
export function coverFault(
  values: WithdrawalValues,
  { fee, available, asset }: { fee: string; available: string | undefined; asset: string },
): string | undefined {
  const { amount } = givenOf(values, fee);
  return compareAmounts(amount, '0') <= 0
    ? `The total must be more than the fee of ${fee}.`
    : overdraft(amount, fee, available, asset);
}

type FieldsProps<Shape extends WithdrawalValues> = { readonly form: Form<Shape> };

export function FromProfile<Shape extends WithdrawalValues>({
  form,
  onChoose,
}: FieldsProps<Shape> & { readonly onChoose: (id: string) => void }) {
  return (
    <FormField form={form} name="profile_id" label="From profile">
      {(wired) => (
        <ProfileSelect
          {...wired}
          onChange={(event) => {
            wired.onChange(event);
            onChoose(event.target.value);
          }}
        />
      )}
    </FormField>
  );
}

/** Amount, fee, memo and reference. */
export function PaymentFields<Shape extends WithdrawalValues>({
  form,
  asset,
  available,
  memoHint,
}: FieldsProps<Shape> & {
  readonly asset: string;
  readonly available: string | undefined;
  readonly memoHint: string;
}) {
  return (
    <>
      <Pair>
        <FormField
          form={form}
          name="amount"
          label={`Amount in ${asset}`}
          {...(available !== undefined && { hint: `${formatAmount(available)} ${asset} available` })}
        >
          {(wired) => <AmountInput {...wired} placeholder="0" />}
        </FormField>
        <FormField form={form} name="includes" label="The fee">
          {(wired) => (
            <Select
              {...wired}
              options={[
                { value: 'no', label: 'is added to the amount' },
                { value: 'yes', label: 'is taken from the amount' },
              ]}
            />
          )}
        </FormField>
      </Pair>
      <Pair>
        <FormField form={form} name="memo" label="Memo" hint={memoHint}>
          {(wired) => <TextInput {...wired} />}
        </FormField>
        <FormField
          form={form}
          name="ref_id"
          label="Your reference (ref_id)"
          hint="Optional and unique: a second request with it is not executed."
        >
          {(wired) => <TextInput {...wired} maxLength={255} />}
        </FormField>
      </Pair>
    </>
  );
}

type Sum = {
  readonly asset: string;
  readonly amount: string;
  readonly fee: string;
  readonly available: string | undefined;
};

export const WithdrawalSummary = ({ amount, ...sum }: Sum) => (
  <Summary {...sum} amount={compareAmounts(amount, '0') < 0 ? '0' : amount} amountLabel="Recipient gets" />
);
