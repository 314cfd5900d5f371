import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import { Button, Drawer, Facts, Id, Loading, ProblemNotice, StatusBadge, Time, toast } from '~/ui/index.ts';
import type { Delivery } from './page.tsx';

export function DeliveryDrawer({
  hookId,
  id,
  onClose,
}: {
  readonly hookId: string;
  readonly id: string;
  readonly onClose: () => void;
}) {
  const mayReplay = useMay('events:write_webhook');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const delivery = useQuery({
    queryKey: ['webhooks', hookId, 'delivery', id],
    queryFn: () => ferry.getWebhookDelivery({ id: hookId, delivery_id: id }),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? 2_000 : false),
  });
  async function replay(): Promise<void> {
    setBusy(true);
    setRefused(undefined);
    try {
      await ferry.replayWebhookDelivery({ id: hookId, delivery_id: id });
      await queryClient.invalidateQueries();
      toast('Sent it again, as a new delivery.');
    } catch (error) {
      setRefused(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Drawer
      open
      onClose={onClose}
      title={delivery.data?.event_type ?? 'Delivery'}
      description={delivery.data && <StatusBadge status={delivery.data.status} />}
      footer={
        mayReplay ? (
          <Button icon="refresh" variant="primary" busy={busy} onClick={() => void replay()}>
            Send again
          </Button>
        ) : undefined
      }
    >
      {(refused ?? delivery.error) != null && <ProblemNotice error={refused ?? delivery.error} />}
      {delivery.data === undefined ? (
        delivery.error === null && <Loading />
      ) : (
        <Details delivery={delivery.data} />
      )}
    </Drawer>
  );
}

function Details({ delivery }: { readonly delivery: Delivery }) {
  const { request, response } = delivery;
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          { name: 'Event', value: <Id id={delivery.event_id} of="event id" whole /> },
          { name: 'Cause', value: delivery.trigger.toLowerCase() },
          { name: 'Attempts', value: delivery.attempts },
          { name: 'Last attempt', value: <Time at={delivery.updated_at} /> },
          delivery.next_attempt_at === undefined
            ? undefined
            : { name: 'Next attempt', value: <Time at={delivery.next_attempt_at} form="relative" /> },
          delivery.error === undefined ? undefined : { name: 'Error', value: delivery.error },
        ]}
      />
      {request !== undefined && (
        <Part title="Request">
          <Headers headers={request.headers} />
          <Code text={JSON.stringify(request.body, null, 2)} label="Body of the request" />
        </Part>
      )}
      {response !== undefined && (
        <Part title={`Answer: ${response.status} after ${response.duration_ms} ms`}>
          <Headers headers={response.headers} />
          {response.body !== '' && <Code text={response.body} label="Body of the answer" />}
        </Part>
      )}
    </div>
  );
}

const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="flex flex-col gap-2">
    <h3 className="text-sm font-semibold">{title}</h3>
    {children}
  </section>
);

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 font-mono text-xs">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-quiet">{name}</dt>
          <dd className="min-w-0 break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A region that scrolls must be reachable with the keyboard. */
export const Code = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <section
    tabIndex={0}
    aria-label={label}
    className="max-h-96 overflow-auto rounded-lg border border-line bg-raised p-3"
  >
    <pre className="font-mono text-xs">{text}</pre>
  </section>
);
