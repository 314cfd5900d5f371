import type { Answer, Input } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import { useAssets, useProfileName } from '~/customer/data.ts';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { ProfileSelect } from '~/customer/picks.tsx';
import { words } from '~/lib/words.ts';
import { Facts, Id, Panel, Select, toast } from '~/ui/index.ts';
import { CreateFrame, Notes } from './frame.tsx';

type Network = Input<'createDepositAddress'>['crypto_network'];

/** It moves nothing, so it needs no review. */
export default function DepositAddress() {
  const search = useScreenSearch<{ profile?: string }>();
  const nameOf = useProfileName();
  const networks = [
    ...new Set(
      (useAssets() ?? [])
        .filter(({ kind }) => kind !== 'FIAT')
        .flatMap(({ rails }) => rails.map(({ rail }) => rail)),
    ),
  ];
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Answer<'createDepositAddress'>>();
  const form = useForm({ profile_id: search.profile ?? '', crypto_network: '' }, (values) => ({
    profile_id: required(values.profile_id, 'the profile to credit'),
    crypto_network: required(values.crypto_network, 'the network'),
  }));
  async function create(): Promise<void> {
    setBusy(true);
    try {
      const { profile_id: profileId, crypto_network: network } = form.values;
      setMade(
        await ferry.createDepositAddress({
          profile_id: profileId,
          crypto_network: network as Network,
          ref_id: form.refId(),
        }),
      );
      await queryClient.invalidateQueries();
      toast('Created a deposit address.');
    } catch (error) {
      form.refuse(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <CreateFrame
      form={form}
      busy={busy}
      action="Create the address"
      onReview={() => void create()}
      aside={
        <>
          {made !== undefined && (
            <Panel title="Send to this address">
              <Facts
                facts={[
                  { name: 'Address', value: <Id id={made.address} of="address" whole /> },
                  { name: 'Network', value: words(made.crypto_network) },
                  { name: 'Credits', value: nameOf(made.profile_id) },
                ]}
              />
            </Panel>
          )}
          <Notes>
            <li>The address accepts every asset of its network, and stays valid.</li>
            <li>A deposit is credited after the confirmations of its network.</li>
          </Notes>
        </>
      }
    >
      <FormField form={form} name="profile_id" label="Profile to credit">
        {(wired) => <ProfileSelect {...wired} />}
      </FormField>
      <FormField form={form} name="crypto_network" label="Network">
        {(wired) => (
          <Select
            {...wired}
            options={[
              { value: '', label: 'Choose a network' },
              ...networks.map((one) => ({ value: one, label: words(one) })),
            ]}
          />
        )}
      </FormField>
    </CreateFrame>
  );
}
