import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch } from '~/app/navigation.ts';
import {
  destinationOf,
  type FiatAccount,
  ownerOf,
  useAssets,
  useBalances,
  useFiatAccounts,
  useProfileName,
} from '~/customer/data.ts';
import { amountFault, FormField, filled, required, useForm } from '~/customer/form.tsx';
import { formatAmount } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import { ConfirmDialog, Facts, LinkButton, Select, StatusBadge, toast } from '~/ui/index.ts';
import { CreateFrame, Notes } from './frame.tsx';
import { availableOf } from './money.ts';
import {
  coverFault,
  FromProfile,
  givenOf,
  PaymentFields,
  WITHDRAWAL_VALUES,
  WithdrawalSummary,
} from './withdrawal-fields.tsx';

const ASSET = 'USD';
/** What fits into the memo of a payment, by rail. */
const MEMO_MAX: Readonly<Record<string, number>> = {
  wire: 100,
  cubix: 40,
  bank_network_2: 100,
  bank_network_3: 140,
  cbit: 500,
};

const labelOf = (account: FiatAccount): string => {
  const { kind, number } = destinationOf(account);
  return `${ownerOf(account)} · ${words(kind)} ${number}`;
};

export default function FiatWithdrawal() {
  const search = useScreenSearch<{ profile?: string; fiat_account?: string }>();
  const go = useGo();
  const nameOf = useProfileName();
  const accounts = useFiatAccounts()?.filter(({ status }) => status !== 'REJECTED');
  const assets = useAssets();
  const [reviewed, setReviewed] = useState(false);
  const [profileId, setProfileId] = useState(search.profile ?? '');
  const available = availableOf(useBalances(profileId), ASSET);
  const feeOf = (accountId: string): string => {
    const account = accounts?.find(({ id }) => id === accountId);
    const rail = account && destinationOf(account).kind;
    return (
      assets?.find((one) => one.asset === ASSET)?.rails.find((one) => one.rail === rail)?.withdrawal_fee ??
      '0'
    );
  };
  const form = useForm(
    {
      profile_id: profileId,
      fiat_account_id: search.fiat_account ?? '',
      ...WITHDRAWAL_VALUES,
    },
    (values) => {
      const fee = feeOf(values.fiat_account_id);
      const account = accounts?.find(({ id }) => id === values.fiat_account_id);
      const memoMax = MEMO_MAX[account === undefined ? 'wire' : destinationOf(account).kind]!;
      return {
        profile_id: required(values.profile_id, 'the profile to debit'),
        fiat_account_id: required(values.fiat_account_id, 'the fiat account to pay to'),
        amount: amountFault(values.amount, 2) ?? coverFault(values, { fee, available, asset: ASSET }),
        memo:
          Array.from(values.memo).length > memoMax
            ? `At most ${memoMax} characters on this rail.`
            : undefined,
      };
    },
  );
  const { values } = form;
  const account = accounts?.find(({ id }) => id === values.fiat_account_id);
  const fee = feeOf(values.fiat_account_id);
  const { amount, total } = givenOf(values, fee);
  const summary = <WithdrawalSummary asset={ASSET} amount={amount} fee={fee} available={available} />;

  async function send(): Promise<void> {
    const transfer = await ferry
      .createFiatWithdrawal(
        filled({
          profile_id: values.profile_id,
          fiat_account_id: values.fiat_account_id,
          asset: ASSET,
          ...(values.includes === 'yes' ? { total } : { amount }),
          memo: values.memo,
          ref_id: values.ref_id === '' ? form.refId() : values.ref_id,
        }),
      )
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast(`Requested the withdrawal of ${formatAmount(transfer.amount)} ${ASSET}.`);
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
              <li>The total is held at once and leaves the balance when the rail confirms the payment.</li>
              <li>If the payment fails, everything that was held returns, including the fee.</li>
              {account?.status === 'PENDING' && (
                <li className="text-warn">The fiat account is under review: the payment waits for it.</li>
              )}
            </Notes>
          </>
        }
      >
        <FromProfile form={form} onChoose={setProfileId} />
        <FormField
          form={form}
          name="fiat_account_id"
          label="To fiat account"
          {...(accounts?.length === 0 && { hint: 'There is none yet: register one first.' })}
        >
          {(wired) => (
            <Select
              {...wired}
              options={[
                { value: '', label: accounts === undefined ? 'Loading…' : 'Choose a fiat account' },
                ...(accounts ?? []).map((one) => ({
                  value: one.id,
                  label: labelOf(one) + (one.status === 'PENDING' ? ' (under review)' : ''),
                })),
              ]}
            />
          )}
        </FormField>
        {accounts?.length === 0 && (
          <div>
            <LinkButton to="/new/fiat-account" icon="plus">
              Register a fiat account
            </LinkButton>
          </div>
        )}
        <PaymentFields
          form={form}
          asset={ASSET}
          available={available}
          memoHint="Optional; the recipient sees it."
        />
      </CreateFrame>
      <ConfirmDialog
        open={reviewed}
        onClose={() => setReviewed(false)}
        title="Confirm the fiat withdrawal"
        action={`Withdraw ${formatAmount(total)} ${ASSET}`}
        onConfirm={send}
      >
        <Facts
          facts={[
            { name: 'From', value: nameOf(values.profile_id) },
            {
              name: 'To',
              value: account && (
                <span className="inline-flex flex-wrap items-center gap-2">
                  {labelOf(account)} <StatusBadge status={account.status} />
                </span>
              ),
            },
            values.memo === '' ? undefined : { name: 'Memo', value: values.memo },
          ]}
        />
        {summary}
      </ConfirmDialog>
    </>
  );
}
