import { type ReactNode, useState } from 'react';
import { queryClient } from '~/app/api.ts';
import { useScreenSearch } from '~/app/navigation.ts';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { ProfileSelect } from '~/customer/picks.tsx';
import { words } from '~/lib/words.ts';
import { Panel, Select, toast } from '~/ui/index.ts';
import { CreateFrame, Notes } from './frame.tsx';

export type Receiving<Made> = {
  /** The field of the request that names the network. */
  readonly field: 'crypto_network' | 'fiat_network';
  readonly label: string;
  readonly networks: readonly string[];
  /** The network that is chosen at first. */
  readonly usual?: string;
  /** "Create the address" */
  readonly action: string;
  readonly done: string;
  create(request: { profile_id: string; network: string; ref_id: string }): Promise<Made>;
  /** What was made, with its title. */
  readonly title: string;
  show(made: Made): ReactNode;
  readonly notes: ReactNode;
};

/** Where a profile can be paid: an address on a chain, or an account at a bank. It moves nothing, so it needs no review. */
export function ReceiveForm<Made>({ receiving }: { readonly receiving: Receiving<Made> }) {
  const { field, networks, usual = '' } = receiving;
  const search = useScreenSearch<{ profile?: string }>();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Made>();
  const form = useForm({ profile_id: search.profile ?? '', [field]: usual }, (values) => ({
    profile_id: required(values.profile_id, 'the profile to credit'),
    [field]: required(values[field]!, 'the network'),
  }));
  async function create(): Promise<void> {
    setBusy(true);
    try {
      const { profile_id: profileId, [field]: network } = form.values;
      setMade(await receiving.create({ profile_id: profileId, network: network!, ref_id: form.refId() }));
      await queryClient.invalidateQueries();
      toast(receiving.done);
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
      action={receiving.action}
      onReview={() => void create()}
      aside={
        <>
          {made !== undefined && <Panel title={receiving.title}>{receiving.show(made)}</Panel>}
          <Notes>{receiving.notes}</Notes>
        </>
      }
    >
      <FormField form={form} name="profile_id" label="Profile to credit">
        {(wired) => <ProfileSelect {...wired} />}
      </FormField>
      <FormField form={form} name={field} label={receiving.label}>
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
