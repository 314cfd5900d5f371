import { ferry, queryClient } from '~/app/api.ts';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { ConfirmDialog, Select, TextInput, toast } from '~/ui/index.ts';

export function NewIdentity({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ type: 'PERSON', first_name: '', last_name: '', name: '' }, (values) => ({
    first_name: values.type === 'PERSON' ? required(values.first_name, 'the first name') : undefined,
    last_name: values.type === 'PERSON' ? required(values.last_name, 'the last name') : undefined,
    name: values.type === 'PERSON' ? undefined : required(values.name, 'the name'),
  }));
  const { type, first_name: first, last_name: last, name } = form.values;
  async function create(): Promise<void> {
    await ferry
      .createIdentity({
        ...(type === 'PERSON'
          ? { type, person_details: { first_name: first.trim(), last_name: last.trim() } }
          : { type: 'INSTITUTION', institution_details: { name: name.trim() } }),
        ref_id: form.refId(),
      })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Created the identity.');
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="New identity"
      action="Create the identity"
      isReady={form.isValid}
      onConfirm={create}
    >
      <FormField form={form} name="type" label="Type">
        {(wired) => (
          <Select
            {...wired}
            options={[
              { value: 'PERSON', label: 'Person' },
              { value: 'INSTITUTION', label: 'Institution' },
            ]}
          />
        )}
      </FormField>
      {type === 'PERSON' ? (
        <>
          <FormField form={form} name="first_name" pointer="/person_details/first_name" label="First name">
            {(wired) => <TextInput {...wired} />}
          </FormField>
          <FormField form={form} name="last_name" pointer="/person_details/last_name" label="Last name">
            {(wired) => <TextInput {...wired} />}
          </FormField>
        </>
      ) : (
        <FormField form={form} name="name" pointer="/institution_details/name" label="Name">
          {(wired) => <TextInput {...wired} />}
        </FormField>
      )}
    </ConfirmDialog>
  );
}
