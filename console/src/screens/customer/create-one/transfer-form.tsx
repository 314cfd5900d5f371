import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch } from '~/app/navigation.ts';
import { useAssets, useBalances, useProfileName, useProfiles } from '~/customer/data.ts';
import { amountFault, FormField, filled, idFault, required, useForm } from '~/customer/form.tsx';
import { ProfileInput, ProfileSelect } from '~/customer/picks.tsx';
import { Summary } from '~/customer/summary.tsx';
import { formatAmount } from '~/lib/money.ts';
import { AmountInput, ConfirmDialog, Facts, Id, Select, TextInput, toast } from '~/ui/index.ts';
import { CreateFrame, Notes, Pair } from './frame.tsx';
import { availableOf, overdraft } from './money.ts';

/** Between two profiles: of one's own, or to that of anybody. Both are complete at once, without a fee. */
export function TransferForm({ isInternal }: { readonly isInternal: boolean }) {
  const search = useScreenSearch<{ profile?: string; asset?: string; to?: string }>();
  const go = useGo();
  const assets = useAssets();
  const profiles = useProfiles();
  const nameOf = useProfileName();
  const [reviewed, setReviewed] = useState(false);
  const [fromId, setFromId] = useState(search.profile ?? '');
  const balances = useBalances(fromId);
  const form = useForm(
    { from: fromId, to: search.to ?? '', asset: search.asset ?? 'USD', amount: '', ref_id: '' },
    (values) => ({
      from: required(values.from, 'the profile to debit'),
      to:
        idFault(values.to, 'the profile to credit') ??
        (values.to === values.from ? 'This is the same profile.' : undefined),
      asset: required(values.asset, 'an asset'),
      amount:
        amountFault(values.amount, assets?.find((one) => one.asset === values.asset)?.decimals) ??
        overdraft(values.amount, '0', availableOf(balances, values.asset), values.asset),
    }),
  );
  const { values } = form;
  const available = availableOf(balances, values.asset);
  const isAmount = amountFault(values.amount, undefined) === undefined;
  const summary = (
    <Summary asset={values.asset} amount={isAmount ? values.amount : '0'} fee="0" available={available} />
  );

  async function send(): Promise<void> {
    const { from, to, ref_id: reference, ...rest } = values;
    const body = {
      ...rest,
      from_profile_id: from,
      to_profile_id: to.trim(),
      ref_id: reference === '' ? form.refId() : reference,
    };
    const sent = isInternal
      ? ferry.createInternalTransfer(filled(body))
      : ferry.createPlatformTransfer(filled(body));
    const transfer = await sent.catch((error: unknown) => {
      form.refuse(error);
      throw error;
    });
    await queryClient.invalidateQueries();
    toast(`Transferred ${formatAmount(values.amount)} ${values.asset}.`);
    go(`/transfers/${transfer.id}`);
  }

  return (
    <>
      <CreateFrame
        form={form}
        onReview={() => setReviewed(true)}
        aside={
          <>
            {summary}
            <Notes>
              <li>Both sides are complete at once, in one transaction. It cannot be taken back.</li>
              <li>Platform and internal transfers have no fee.</li>
            </Notes>
          </>
        }
      >
        <FormField form={form} name="from" pointer="/from_profile_id" label="From profile">
          {(wired) => (
            <ProfileSelect
              {...wired}
              onChange={(event) => {
                wired.onChange(event);
                setFromId(event.target.value);
              }}
            />
          )}
        </FormField>
        <FormField
          form={form}
          name="to"
          pointer="/to_profile_id"
          label="To profile"
          {...(!isInternal && { hint: nameOf(values.to) ?? 'The id of a profile of any customer' })}
        >
          {(wired) => (isInternal ? <ProfileSelect {...wired} /> : <ProfileInput {...wired} />)}
        </FormField>
        <Pair>
          <FormField form={form} name="asset" label="Asset">
            {(wired) => (
              <Select
                {...wired}
                options={(assets ?? []).map(({ asset }) => ({ value: asset, label: asset }))}
              />
            )}
          </FormField>
          <FormField
            form={form}
            name="amount"
            label="Amount"
            {...(available !== undefined && { hint: `${formatAmount(available)} ${values.asset} available` })}
          >
            {(wired) => <AmountInput {...wired} placeholder="0" />}
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
        title={isInternal ? 'Confirm the internal transfer' : 'Confirm the platform transfer'}
        action={`Transfer ${isAmount ? formatAmount(values.amount) : ''} ${values.asset}`}
        onConfirm={send}
      >
        <Facts
          facts={[
            { name: 'From', value: nameOf(values.from) },
            {
              name: 'To',
              value: nameOf(values.to) ?? (
                <>
                  <Id id={values.to} of="profile id" whole /> {profiles !== undefined && '(not one of yours)'}
                </>
              ),
            },
          ]}
        />
        {summary}
      </ConfirmDialog>
    </>
  );
}
