import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { nameOf } from '~/customer/data.ts';
import { FormField, filled, required, useForm } from '~/customer/form.tsx';
import { words } from '~/lib/words.ts';
import { Checkbox, ConfirmDialog, Select, TextInput, toast } from '~/ui/index.ts';

const TYPES = ['BROKERAGE', 'CUSTODY', 'OTHER'] as const;
const CHOICES_MAX = 1_000;

export function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const [withProfile, setWithProfile] = useState(true);
  const identities = useQuery({
    queryKey: ['identities', 'choices'],
    queryFn: async () => (await ferry.listIdentities({ limit: CHOICES_MAX })).items,
  }).data;
  const form = useForm({ identity_id: '', type: 'BROKERAGE', description: '' }, (values) => ({
    identity_id: required(values.identity_id, 'the identity that owns the account'),
  }));
  async function create(): Promise<void> {
    const { identity_id: owner, type, description } = form.values;
    await ferry
      .createAccount({
        account: filled({
          identity_id: owner,
          type: type as (typeof TYPES)[number],
          description: description.trim(),
          ref_id: form.refId(),
        }),
        create_profile: withProfile,
      })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Created the account.');
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="New account"
      action="Create the account"
      isReady={form.isValid}
      onConfirm={create}
    >
      <FormField form={form} name="identity_id" pointer="/account/identity_id" label="Owner">
        {(wired) => (
          <Select
            {...wired}
            options={[
              { value: '', label: identities === undefined ? 'Loading…' : 'Choose an identity' },
              ...(identities ?? []).map((one) => ({ value: one.id, label: nameOf(one) })),
            ]}
          />
        )}
      </FormField>
      <FormField form={form} name="type" pointer="/account/type" label="Type">
        {(wired) => <Select {...wired} options={TYPES.map((one) => ({ value: one, label: words(one) }))} />}
      </FormField>
      <FormField
        form={form}
        name="description"
        pointer="/account/description"
        label="Description"
        hint="Optional"
      >
        {(wired) => <TextInput {...wired} />}
      </FormField>
      <Checkbox
        label="Create a profile for it as well"
        checked={withProfile}
        onChange={(event) => setWithProfile(event.target.checked)}
      />
    </ConfirmDialog>
  );
}
