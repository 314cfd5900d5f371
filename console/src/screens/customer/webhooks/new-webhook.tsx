import type { Answer } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo } from '~/app/navigation.ts';
import { FormField, filled, useForm } from '~/customer/form.tsx';
import { Button, ConfirmDialog, Dialog, Id, TextArea, TextInput, toast } from '~/ui/index.ts';

function urlFault(text: string): string | undefined {
  if (text === '') return 'Enter the address of the endpoint.';
  return /^https?:\/\/[^\s/]+/.test(text) ? undefined : 'An address that starts with https://';
}

export function NewWebhook({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const go = useGo();
  const [made, setMade] = useState<Answer<'createWebhook'>>();
  const form = useForm({ url: '', event_types: '*', description: '' }, (values) => ({
    url: urlFault(values.url),
    event_types: values.event_types.trim() === '' ? 'Name at least one type, or * for all.' : undefined,
  }));
  async function create(): Promise<void> {
    const { url, event_types: types, description } = form.values;
    const hook = await ferry
      .createWebhook(
        filled({
          url: url.trim(),
          event_types: types.split(/[\s,]+/).filter((one) => one !== ''),
          description: description.trim(),
          ref_id: form.refId(),
        }),
      )
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Added the endpoint.');
    setMade(hook);
  }
  if (made !== undefined)
    return (
      <Secret
        secret={made.secret ?? 'It was shown in the first answer. Replace it if you have not stored it.'}
        onClose={() => {
          setMade(undefined);
          go(`/webhooks/${made.id}`);
        }}
      />
    );
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Add a webhook endpoint"
      description="Its secret is shown once, afterwards."
      action="Add the endpoint"
      isReady={form.isValid}
      onConfirm={create}
    >
      <FormField form={form} name="url" label="Address" hint="In production: https, and a public address">
        {(wired) => <TextInput {...wired} placeholder="https://example.com/ferry" />}
      </FormField>
      <FormField
        form={form}
        name="event_types"
        label="Types of events"
        hint="One per line. * stands for any text: transfer.*"
      >
        {(wired) => <TextArea {...wired} rows={2} className="font-mono text-xs" />}
      </FormField>
      <FormField form={form} name="description" label="Description" hint="Optional">
        {(wired) => <TextInput {...wired} />}
      </FormField>
    </ConfirmDialog>
  );
}

/** The secret exists in this answer only. */
export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Keep this secret"
      description="It signs what the service sends. It is not shown again; it can be replaced."
      footer={
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className="rounded-lg border border-line bg-raised p-3">
        <Id id={secret} of="secret" whole />
      </div>
    </Dialog>
  );
}
