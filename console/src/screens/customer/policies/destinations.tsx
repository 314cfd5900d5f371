import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import { FormField, filled, required, useForm } from '~/customer/form.tsx';
import {
  Button,
  ConfirmDialog,
  EmptyState,
  Loading,
  Panel,
  ProblemNotice,
  TextInput,
  Time,
  toast,
} from '~/ui/index.ts';

/** Where policies with `listed_only` let withdrawals go. */
export function Destinations() {
  const mayWrite = useMay('policy:write_policy');
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<{ id: string; destination: string }>();
  const destinations = useQuery({
    queryKey: ['destinations'],
    queryFn: async () => (await ferry.listDestinations({ limit: 1_000 })).items,
  });
  return (
    <Panel
      title="Listed destinations"
      flush
      action={
        mayWrite && (
          <Button variant="ghost" icon="plus" onClick={() => setNew(true)}>
            List a destination
          </Button>
        )
      }
    >
      {destinations.error !== null && (
        <div className="p-4">
          <ProblemNotice error={destinations.error} />
        </div>
      )}
      {destinations.data === undefined && destinations.error === null && <Loading />}
      {destinations.data?.length === 0 && (
        <EmptyState icon="bookmark" title="No destination is listed">
          A policy with the rule “destinations” can refuse everything that is not on this list.
        </EmptyState>
      )}
      <ul>
        {destinations.data?.map((one) => (
          <li
            key={one.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line/60 px-4 py-2 text-sm last:border-0"
          >
            <span className="min-w-0 flex-1 basis-60">
              {one.label !== undefined && <span className="block font-medium">{one.label}</span>}
              <span className="font-mono text-xs break-all">{one.destination}</span>
            </span>
            <span className="text-xs text-quiet">
              since <Time at={one.created_at} form="short" />
            </span>
            {mayWrite && (
              <Button
                variant="ghost"
                aria-label={`Remove ${one.destination}`}
                onClick={() => setRemoved(one)}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {isNew && <NewDestination onClose={() => setNew(false)} />}
      <ConfirmDialog
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Remove this destination?"
        description={removed?.destination}
        action="Remove the destination"
        danger
        onConfirm={async () => {
          await ferry.removeDestination({ id: removed!.id });
          await queryClient.invalidateQueries();
          toast('Removed the destination.');
        }}
      />
    </Panel>
  );
}

function NewDestination({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ destination: '', label: '' }, (values) => ({
    destination:
      required(values.destination, 'the destination') ??
      (/^[A-Z_]+\/\S+$|^fiat_account\/[0-9a-f-]{36}$/.test(values.destination.trim())
        ? undefined
        : 'BITCOIN/bc1q…, or fiat_account/ and its id'),
  }));
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="List a destination"
      description="A cooling-off time of a policy starts now."
      action="List the destination"
      isReady={form.isValid}
      onConfirm={async () => {
        const { destination, label } = form.values;
        await ferry.listDestinationForWithdrawals(
          filled({ destination: destination.trim(), label: label.trim() }),
        );
        await queryClient.invalidateQueries();
        toast('Listed the destination.');
      }}
    >
      <FormField
        form={form}
        name="destination"
        label="Destination"
        hint="Network and address, or fiat_account/ and its id"
      >
        {(wired) => <TextInput {...wired} className="font-mono text-xs" />}
      </FormField>
      <FormField form={form} name="label" label="Label" hint="Optional">
        {(wired) => <TextInput {...wired} />}
      </FormField>
    </ConfirmDialog>
  );
}
