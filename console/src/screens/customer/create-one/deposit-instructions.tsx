import type { Answer, Input } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import { FIAT_KINDS } from '~/customer/data.ts';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { InstructionFacts } from '~/customer/instructions.tsx';
import { ProfileSelect } from '~/customer/picks.tsx';
import { words } from '~/lib/words.ts';
import { Panel, Select, toast } from '~/ui/index.ts';
import { CreateFrame, Notes } from './frame.tsx';

type Network = Input<'createFiatDepositInstructions'>['fiat_network'];

/** It moves nothing, so it needs no review. */
export default function DepositInstructions() {
  const search = useScreenSearch<{ profile?: string }>();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Answer<'createFiatDepositInstructions'>>();
  const form = useForm({ profile_id: search.profile ?? '', fiat_network: 'WIRE' }, (values) => ({
    profile_id: required(values.profile_id, 'the profile to credit'),
  }));
  async function create(): Promise<void> {
    setBusy(true);
    try {
      const { profile_id: profileId, fiat_network: network } = form.values;
      setMade(
        await ferry.createFiatDepositInstructions({
          profile_id: profileId,
          fiat_network: network as Network,
          ref_id: form.refId(),
        }),
      );
      await queryClient.invalidateQueries();
      toast('Created deposit instructions.');
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
      action="Create the instructions"
      onReview={() => void create()}
      aside={
        <>
          {made !== undefined && (
            <Panel title="Pay to this account">
              <InstructionFacts made={made} />
            </Panel>
          )}
          <Notes>
            <li>The memo identifies the profile: a payment without it waits for an operator.</li>
            <li>The instructions stay valid for any number of payments.</li>
          </Notes>
        </>
      }
    >
      <FormField form={form} name="profile_id" label="Profile to credit">
        {(wired) => <ProfileSelect {...wired} />}
      </FormField>
      <FormField form={form} name="fiat_network" label="Bank or network">
        {(wired) => (
          <Select
            {...wired}
            options={FIAT_KINDS.map((one) => ({ value: one.toUpperCase(), label: words(one) }))}
          />
        )}
      </FormField>
    </CreateFrame>
  );
}
