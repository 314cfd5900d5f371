import type { components, Input } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch } from '~/app/navigation.ts';
import { useAssets, useBalances, useProfileName } from '~/customer/data.ts';
import { amountFault, FormField, filled, required, useForm } from '~/customer/form.tsx';
import { formatAmount } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import { ConfirmDialog, Facts, Id, Select, TextInput, Time, toast } from '~/ui/index.ts';
import { addressFault } from './addresses.ts';
import { CreateFrame, Notes, Pair } from './frame.tsx';
import { availableOf } from './money.ts';
import {
  coverFault,
  FromProfile,
  givenOf,
  PaymentFields,
  WITHDRAWAL_VALUES,
  WithdrawalSummary,
} from './withdrawal-fields.tsx';

type Fee = components['schemas']['GuaranteedFee'];
type Network = Input<'createCryptoWithdrawal'>['crypto_network'];

/** The fee is guaranteed before the review, so what is confirmed is what is charged. */
export default function CryptoWithdrawal() {
  const search = useScreenSearch<{ profile?: string; asset?: string }>();
  const go = useGo();
  const nameOf = useProfileName();
  const all = useAssets();
  const assets = all?.filter(({ kind, rails }) => kind !== 'FIAT' && rails.length > 0);
  const [quoted, setQuoted] = useState<Fee>();
  const [busy, setBusy] = useState(false);
  const [profileId, setProfileId] = useState(search.profile ?? '');
  const balances = useBalances(profileId);
  const railsOf = (asset: string) =>
    (assets?.find((one) => one.asset === asset)?.rails ?? []).filter(
      (one) => one.withdrawal_fee !== undefined,
    );
  const networkOf = (asset: string, network: string): string =>
    railsOf(asset).some((one) => one.rail === network) ? network : (railsOf(asset)[0]?.rail ?? '');
  const feeOf = (asset: string, network: string): string =>
    railsOf(asset).find((one) => one.rail === network)?.withdrawal_fee ?? '0';
  const form = useForm(
    {
      profile_id: profileId,
      asset: search.asset ?? 'BTC',
      crypto_network: '',
      destination_address: '',
      ...WITHDRAWAL_VALUES,
    },
    (values) => {
      const network = networkOf(values.asset, values.crypto_network);
      const fee = feeOf(values.asset, network);
      return {
        profile_id: required(values.profile_id, 'the profile to debit'),
        destination_address: addressFault(network, values.destination_address),
        amount:
          amountFault(values.amount, assets?.find((one) => one.asset === values.asset)?.decimals) ??
          coverFault(values, { fee, available: availableOf(balances, values.asset), asset: values.asset }),
        memo: Array.from(values.memo).length > 500 ? 'At most 500 characters.' : undefined,
      };
    },
  );
  const { values } = form;
  const { asset } = values;
  const network = networkOf(asset, values.crypto_network);
  const available = availableOf(balances, asset);
  const fee = feeOf(asset, network);
  const given = givenOf(values, fee);

  async function quote(): Promise<void> {
    setBusy(true);
    try {
      const value = values.includes === 'yes' ? { total: given.total } : { amount: given.amount };
      setQuoted(
        await ferry.createCryptoWithdrawalFee({
          asset,
          crypto_network: network as Network,
          destination_address: values.destination_address.trim(),
          ...value,
        }),
      );
    } catch (error) {
      form.refuse(error);
    } finally {
      setBusy(false);
    }
  }

  async function send({ id, amount }: Fee): Promise<void> {
    const transfer = await ferry
      .createCryptoWithdrawal(
        filled({
          profile_id: values.profile_id,
          asset,
          crypto_network: network as Network,
          destination_address: values.destination_address.trim(),
          amount,
          fee_id: id,
          memo: values.memo,
          ref_id: values.ref_id === '' ? form.refId() : values.ref_id,
        }),
      )
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast(`Requested the withdrawal of ${formatAmount(transfer.amount)} ${asset}.`);
    go(`/transfers/${transfer.id}`);
  }

  return (
    <>
      <CreateFrame
        form={form}
        busy={busy}
        action="Guarantee the fee and review"
        onReview={() => void quote()}
        aside={
          <>
            <WithdrawalSummary asset={asset} amount={given.amount} fee={fee} available={available} />
            <Notes>
              <li>The fee of the review is guaranteed for 15 minutes. Here it is that of the schedule.</li>
              <li>What was sent to a wrong address cannot be taken back.</li>
              <li>If nothing was sent, everything that was held returns, including the fee.</li>
            </Notes>
          </>
        }
      >
        <FromProfile form={form} onChoose={setProfileId} />
        <Pair>
          <FormField form={form} name="asset" label="Asset">
            {(wired) => (
              <Select
                {...wired}
                options={(assets ?? []).map((one) => ({ value: one.asset, label: one.asset }))}
              />
            )}
          </FormField>
          <FormField form={form} name="crypto_network" label="Network">
            {(wired) => (
              <Select
                {...wired}
                value={network}
                options={railsOf(asset).map(({ rail, withdrawal_fee: cost = '0' }) => ({
                  value: rail,
                  label: `${words(rail)} · fee ${formatAmount(cost)}`,
                }))}
              />
            )}
          </FormField>
        </Pair>
        <FormField form={form} name="destination_address" label="Destination address">
          {(wired) => <TextInput {...wired} className="font-mono text-xs" />}
        </FormField>
        <PaymentFields form={form} asset={asset} available={available} memoHint="Optional" />
      </CreateFrame>
      {quoted !== undefined && (
        <ConfirmDialog
          open
          onClose={() => setQuoted(undefined)}
          title="Confirm the crypto withdrawal"
          action={`Withdraw ${formatAmount(quoted.total)} ${asset}`}
          onConfirm={() => send(quoted)}
        >
          <Facts
            facts={[
              { name: 'From', value: nameOf(values.profile_id) },
              { name: 'Network', value: words(network) },
              { name: 'To', value: <Id id={quoted.destination_address} of="address" whole /> },
              {
                name: 'Fee',
                value: (
                  <>
                    guaranteed until <Time at={quoted.expires_at} />
                  </>
                ),
              },
              values.memo === '' ? undefined : { name: 'Memo', value: values.memo },
            ]}
          />
          <WithdrawalSummary asset={asset} amount={quoted.amount} fee={quoted.fee} available={available} />
        </ConfirmDialog>
      )}
    </>
  );
}
