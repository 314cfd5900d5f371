import type { components } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { Badge, Button, type Column, DataTable, EmptyState, PageHeader, Time, usePages } from '~/ui/index.ts';
import { NewWebhook } from './new-webhook.tsx';

export type Webhook = components['schemas']['Webhook'];

export function Health({ hook }: { readonly hook: Webhook }) {
  if (!hook.enabled) return <Badge tone="neutral">Disabled</Badge>;
  return hook.failing_since === undefined ? (
    <Badge tone="good">Healthy</Badge>
  ) : (
    <Badge tone="bad">Failing</Badge>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    header: 'Address',
    width: 'minmax(14rem, 2fr)',
    narrow: true,
    cell: ({ url }) => <span className="font-mono text-xs">{url}</span>,
  },
  {
    id: 'health',
    header: 'Health',
    width: '8rem',
    narrow: true,
    align: 'right',
    cell: (hook) => <Health hook={hook} />,
  },
  {
    id: 'types',
    header: 'Events',
    width: 'minmax(10rem, 1.5fr)',
    cell: ({ event_types: types }) => (
      <span className="truncate text-quiet">{types.includes('*') ? 'all' : types.join(', ')}</span>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function Webhooks() {
  const { new: isNew } = useScreenSearch<{ new?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('events:write_webhook');
  const pages = usePages(['webhooks'], (cursor, signal) => ferry.listWebhooks({ ...cursor }, { signal }));
  return (
    <>
      <PageHeader title="Webhooks">
        {mayWrite && (
          <Button variant="primary" icon="plus" onClick={() => setSearch({ new: 'yes' })}>
            Add an endpoint
          </Button>
        )}
      </PageHeader>
      <DataTable
        label="Webhook endpoints"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/webhooks/${row.id}`}
        empty={
          <EmptyState icon="webhook" title="No endpoint yet">
            The service sends every event to your endpoints, signed, in order, and again until they answer
            with 2xx.
          </EmptyState>
        }
      />
      <NewWebhook open={isNew !== undefined && mayWrite} onClose={() => setSearch({})} />
    </>
  );
}
