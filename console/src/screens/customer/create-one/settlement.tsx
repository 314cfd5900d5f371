import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch } from '~/app/navigation.ts';
import { useAssets, useBalances, useProfileName } from '~/customer/data.ts';
import { amountFault, FormField, idFault, required, useForm } from '~/customer/form.tsx';
import { ProfileInput, ProfileSelect } from '~/customer/picks.tsx';
import { compareAmounts, formatAmount, fractionOf, subtractAmount } from '~/lib/money.ts';
import { fromLocalInput, READER_ZONE } from '~/lib/time.ts';
import {
  AmountInput,
  Button,
  ConfirmDialog,
  Facts,
  Field,
  fieldProblem,
  IconButton,
  Id,
  Money,
  Select,
  TextInput,
  Time,
  toast,
} from '~/ui/index.ts';
import { CreateFrame, Notes, Pair } from './frame.tsx';
import { availableOf } from './money.ts';

type Direction = 'DELIVER' | 'RECEIVE';
type Leg = {
  readonly key: number;
  readonly direction: Direction;
  readonly asset: string;
  readonly amount: string;
};

const LEGS_MAX = 100;
const DIRECTIONS = [
  { value: 'DELIVER', label: 'You deliver' },
  { value: 'RECEIVE', label: 'You receive' },
] as const;

export default function Settlement() {
  const search = useScreenSearch<{ profile?: string; to?: string }>();
  const go = useGo();
  const nameOf = useProfileName();
  const assets = useAssets();
  const [reviewed, setReviewed] = useState(false);
  const [legs, setLegs] = useState<readonly Leg[]>([
    { key: 1, direction: 'DELIVER', asset: 'BTC', amount: '' },
    { key: 2, direction: 'RECEIVE', asset: 'USD', amount: '' },
  ]);
  const legFault = ({ asset, amount }: Leg): string | undefined =>
    amountFault(amount, assets?.find((one) => one.asset === asset)?.decimals);
  const form = useForm(
    { source: search.profile ?? '', target: search.to ?? '', start: '', end: '', ref_id: '', legs: '' },
    (values) => ({
      source: required(values.source, 'your profile'),
      target:
        idFault(values.target, 'the profile of the other party') ??
        (values.target === values.source ? 'This is the same profile.' : undefined),
      end:
        values.end !== '' && Date.parse(values.end) <= Date.now()
          ? 'The window must end in the future.'
          : undefined,
      legs: legs.some((leg) => legFault(leg) !== undefined) ? 'Complete the legs.' : undefined,
    }),
  );
  const { values } = form;
  const balances = useBalances(values.source);
  const change = (key: number, to: Partial<Leg>): void => {
    setLegs(legs.map((leg) => (leg.key === key ? { ...leg, ...to } : leg)));
    form.set({});
  };

  async function send(): Promise<void> {
    const [start, end] = [fromLocalInput(values.start), fromLocalInput(values.end)];
    const made = await ferry
      .createSettlementTransaction({
        source_profile_id: values.source,
        target_profile_id: values.target.trim(),
        legs: legs.map(({ direction, asset, amount }) => ({ direction, asset, amount })),
        ...(start !== undefined && { settlement_window_start: start }),
        ...(end !== undefined && { settlement_window_end: end }),
        ref_id: values.ref_id === '' ? form.refId() : values.ref_id,
      })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Offered the settlement. The other party has to affirm it.');
    go(`/settlements/${made.id}`);
  }

  return (
    <>
      <CreateFrame
        form={form}
        onReview={() => setReviewed(true)}
        aside={
          <Notes>
            <li>Nothing is held. The other party affirms, and then all legs settle at once, or none.</li>
            <li>
              An affirmed transaction settles as soon as both sides have the funds, alone or netted with
              others.
            </li>
            <li>At the end of the window it expires. Until it is affirmed, you can cancel it.</li>
            <li>Settlement has no fee. The other party sees your reference.</li>
          </Notes>
        }
      >
        <Pair>
          <FormField form={form} name="source" pointer="/source_profile_id" label="Your profile">
            {(wired) => <ProfileSelect {...wired} />}
          </FormField>
          <FormField
            form={form}
            name="target"
            pointer="/target_profile_id"
            label="Profile of the other party"
            hint={nameOf(values.target)}
          >
            {(wired) => <ProfileInput {...wired} />}
          </FormField>
        </Pair>
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-xs font-medium text-quiet">Legs</legend>
          {legs.map((leg, index) => (
            <div key={leg.key} className="flex flex-wrap items-start gap-2 rounded-lg border border-line p-2">
              <Field label={`Leg ${index + 1}`} className="min-w-32 flex-1">
                {(wired) => (
                  <Select
                    {...wired}
                    value={leg.direction}
                    options={DIRECTIONS}
                    onChange={(event) => change(leg.key, { direction: event.target.value as Direction })}
                  />
                )}
              </Field>
              <Field
                label="Amount"
                className="min-w-32 flex-1"
                error={
                  (leg.amount === '' && form.errorOf('legs') === undefined ? undefined : legFault(leg)) ??
                  fieldProblem(form.refused, `/legs/${index}`)
                }
              >
                {(wired) => (
                  <AmountInput
                    {...wired}
                    value={leg.amount}
                    placeholder="0"
                    onChange={(event) => change(leg.key, { amount: event.target.value })}
                  />
                )}
              </Field>
              <Field label="Asset" className="w-24">
                {(wired) => (
                  <Select
                    {...wired}
                    value={leg.asset}
                    options={(assets ?? []).map(({ asset }) => ({ value: asset, label: asset }))}
                    onChange={(event) => change(leg.key, { asset: event.target.value })}
                  />
                )}
              </Field>
              <div className="pt-5">
                <IconButton
                  label={`Remove leg ${index + 1}`}
                  icon="close"
                  disabled={legs.length === 1}
                  onClick={() => {
                    setLegs(legs.filter(({ key }) => key !== leg.key));
                    form.set({});
                  }}
                />
              </div>
            </div>
          ))}
          <div>
            <Button
              icon="plus"
              disabled={legs.length >= LEGS_MAX}
              onClick={() => {
                const key = Math.max(...legs.map((leg) => leg.key)) + 1;
                setLegs([...legs, { key, direction: 'DELIVER', asset: 'USD', amount: '' }]);
                form.set({});
              }}
            >
              Add a leg
            </Button>
          </div>
        </fieldset>
        <Pair>
          <FormField
            form={form}
            name="start"
            pointer="/settlement_window_start"
            label="Window opens"
            hint={`Now, if empty. ${READER_ZONE}`}
          >
            {(wired) => <TextInput {...wired} type="datetime-local" />}
          </FormField>
          <FormField
            form={form}
            name="end"
            pointer="/settlement_window_end"
            label="Window closes"
            hint="24 hours after it opens, if empty"
          >
            {(wired) => <TextInput {...wired} type="datetime-local" />}
          </FormField>
        </Pair>
        <FormField
          form={form}
          name="ref_id"
          label="Your reference (ref_id)"
          hint="Optional and unique: a second request with it is not executed."
        >
          {(wired) => <TextInput {...wired} maxLength={255} />}
        </FormField>
      </CreateFrame>
      <ConfirmDialog
        open={reviewed}
        onClose={() => setReviewed(false)}
        title="Confirm the settlement transaction"
        action="Offer the settlement"
        onConfirm={send}
      >
        <Facts
          facts={[
            { name: 'Your profile', value: nameOf(values.source) },
            {
              name: 'Other party',
              value: nameOf(values.target) ?? <Id id={values.target} of="profile id" whole />,
            },
            {
              name: 'Window',
              value: (
                <>
                  {values.start === '' ? 'now' : <Time at={fromLocalInput(values.start)!} />} until{' '}
                  {values.end === '' ? '24 hours later' : <Time at={fromLocalInput(values.end)!} />}
                </>
              ),
            },
          ]}
        />
        <LegEffects legs={legs} availableOf={(asset) => availableOf(balances, asset)} />
      </ConfirmDialog>
    </>
  );
}

/** What each leg does to the balance of one's own profile. */
function LegEffects({
  legs,
  availableOf: available,
}: {
  readonly legs: readonly Leg[];
  readonly availableOf: (asset: string) => string | undefined;
}) {
  const fraction = fractionOf(legs.map(({ amount }) => amount));
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">Legs and what is left after each</caption>
      <thead>
        <tr className="border-b border-line">
          <th scope="col" className="eyebrow py-1.5 text-left">
            Leg
          </th>
          <th scope="col" className="eyebrow py-1.5 text-right">
            Amount
          </th>
          <th scope="col" className="eyebrow py-1.5 text-right">
            Available after
          </th>
        </tr>
      </thead>
      <tbody>
        {legs.map(({ key, direction, asset, amount }) => {
          const now = available(asset);
          const isOut = direction === 'DELIVER';
          const after =
            now === undefined || amountFault(amount, undefined) !== undefined
              ? undefined
              : subtractAmount(now, isOut ? amount : `-${amount}`);
          return (
            <tr key={key} className="border-b border-line/60 last:border-0">
              <td className="py-1.5">{isOut ? 'You deliver' : 'You receive'}</td>
              <td className="py-1.5 text-right">
                <Money
                  amount={amount === '' ? '0' : amount}
                  asset={asset}
                  direction={isOut ? 'DEBIT' : 'CREDIT'}
                  fraction={fraction}
                />
              </td>
              <td className="py-1.5 text-right">
                {after !== undefined &&
                  (compareAmounts(after, '0') < 0 ? (
                    <span className="text-warn">{formatAmount(after.slice(1))} missing</span>
                  ) : (
                    <Money amount={after} />
                  ))}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
