import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenParams, useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  Id,
  Loading,
  PageBody,
  PageHeader,
  ProblemNotice,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { Health, type Webhook } from '../webhooks/page.tsx';
import { WebhookActions } from './actions.tsx';
import { DeliveryDrawer } from './delivery.tsx';
import { DeliveryHealth } from './health.tsx';
import { FILTERS } from './screen.ts';

export type Delivery = components['schemas']['WebhookDelivery'];

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: 'type',
    header: 'Event',
    width: 'minmax(13rem, 2fr)',
    narrow: true,
    cell: ({ event_type: type }) => <span className="font-mono text-xs">{type}</span>,
  },
  {
    id: 'status',
    header: 'Status',
    width: '8rem',
    narrow: true,
    align: 'right',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'answer',
    header: 'Answer',
    width: 'minmax(8rem, 1fr)',
    cell: ({ response, error }) => (
      <span className="truncate text-quiet">{response === undefined ? error : `${response.status}`}</span>
    ),
  },
  {
    id: 'time',
    header: 'Took',
    width: '5rem',
    align: 'right',
    cell: ({ response }) => (
      <span className="tabular text-quiet">{response && `${response.duration_ms} ms`}</span>
    ),
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '5.5rem',
    align: 'right',
    cell: ({ attempts }) => <span className="tabular">{attempts}</span>,
  },
  {
    id: 'updated',
    header: 'Last attempt',
    width: '8.5rem',
    align: 'right',
    cell: ({ updated_at: at }) => <Time at={at} form="short" />,
  },
];

const AGAIN_MS = 5_000;

export default function OneWebhook() {
  const { id } = useScreenParams<{ id: string }>();
  const hook = useQuery({
    queryKey: ['webhooks', id],
    queryFn: () => ferry.getWebhook({ id }),
    refetchInterval: AGAIN_MS,
  });
  const back = { to: '/webhooks', label: 'Webhooks' };
  if (hook.error !== null)
    return (
      <PageBody>
        <PageHeader title="Webhook endpoint" back={back} />
        <ProblemNotice error={hook.error} retry={() => void hook.refetch()} />
      </PageBody>
    );
  if (hook.data === undefined) return <Loading what="Loading the endpoint" />;
  return <Endpoint hook={hook.data} />;
}

function Endpoint({ hook }: { readonly hook: Webhook }) {
  const { customer: _, delivery, ...filter } = useScreenSearch<Search & { delivery?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('events:write_webhook');
  const pages = usePages(['webhooks', hook.id, 'deliveries', filter], (cursor, signal) =>
    ferry.listWebhookDeliveries(
      { ...(filter as Omit<Input<'listWebhookDeliveries'>, 'id'>), id: hook.id, ...cursor, limit: 100 },
      { signal },
    ),
  );
  return (
    <>
      <PageHeader
        back={{ to: '/webhooks', label: 'Webhooks' }}
        windowTitle={hook.url}
        title={<span className="font-mono text-base break-all">{hook.url}</span>}
        badge={<Health hook={hook} />}
      >
        {mayWrite && <WebhookActions hook={hook} />}
      </PageHeader>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-1 px-4 pb-3 text-xs text-quiet sm:px-6">
        <Id id={hook.id} of="webhook id" />
        <span>Events: {hook.event_types.includes('*') ? 'all' : hook.event_types.join(', ')}</span>
        {hook.failing_since !== undefined && (
          <span className="text-bad">
            Every attempt failed since <Time at={hook.failing_since} />
          </span>
        )}
        {hook.next_attempt_at !== undefined && (
          <span>
            Next attempt <Time at={hook.next_attempt_at} form="relative" />
          </span>
        )}
        {hook.disabled_reason !== undefined && <span className="text-bad">{hook.disabled_reason}</span>}
      </div>
      <DeliveryHealth deliveries={pages.first} />
      <FilterBar list="webhook-deliveries" filters={FILTERS} />
      <DataTable
        label="Deliveries"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, delivery: row.id })}
        empty={
          <EmptyState icon="webhook" title="Nothing was sent yet">
            Every event of the chosen types is sent here. Send a test event to see one.
          </EmptyState>
        }
      />
      {delivery !== undefined && (
        <DeliveryDrawer hookId={hook.id} id={delivery} onClose={() => setSearch(filter)} />
      )}
    </>
  );
}
