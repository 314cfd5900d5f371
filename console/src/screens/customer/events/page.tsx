import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { useKeys } from '~/app/keys.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { formatAmount } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  Button,
  type Column,
  DataTable,
  Drawer,
  EmptyState,
  Facts,
  FilterBar,
  Id,
  Loading,
  PageHeader,
  ProblemNotice,
  Time,
} from '~/ui/index.ts';
import { Code } from '../webhook/delivery.tsx';
import { type FerryEvent, useFeed } from './feed.ts';
import { FILTERS } from './screen.ts';

const COLUMNS: readonly Column<FerryEvent>[] = [
  {
    id: 'type',
    header: 'Event',
    width: 'minmax(16rem, 2fr)',
    narrow: true,
    cell: ({ type }) => <span className="font-mono text-xs">{type}</span>,
  },
  {
    id: 'about',
    header: 'About',
    width: 'minmax(10rem, 1.5fr)',
    cell: ({ data }) => <span className="truncate text-quiet">{aboutOf(data)}</span>,
  },
  {
    id: 'resource',
    header: 'Resource',
    width: '11rem',
    cell: ({ resource_id: id }) => <Id id={id} of="resource id" />,
  },
  {
    id: 'at',
    header: 'When',
    width: '9rem',
    narrow: true,
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

function aboutOf(data: FerryEvent['data']): string {
  const { amount, asset, status, nickname } = data as Record<string, unknown>;
  const value = typeof amount === 'string' ? formatAmount(amount) : undefined;
  const state = typeof status === 'string' ? words(status).toLowerCase() : undefined;
  return [value, asset, state, nickname].filter((one) => typeof one === 'string').join(' ');
}

/** Where the resource of an event is shown. */
function placeOf({ type, resource_id: id }: FerryEvent): string | undefined {
  if (type.startsWith('transfer.')) return `/transfers/${id}`;
  if (type.startsWith('settlement')) return `/settlements/${id}`;
  if (type.startsWith('fiat_account.')) return `/fiat-accounts?open=${id}`;
  return undefined;
}

export default function Events() {
  const { customer: _, event, ...filter } = useScreenSearch<Search & { event?: string }>();
  const setSearch = useSetSearch();
  const [isPaused, setPaused] = useState(false);
  const feed = useFeed(filter, isPaused);
  const toggle = (): void => setPaused(!isPaused);
  useKeys({ p: [isPaused ? 'Go on' : 'Pause', toggle] });
  return (
    <>
      <PageHeader
        title="Events"
        badge={
          isPaused ? (
            <Badge tone="neutral">Paused</Badge>
          ) : feed.isLive ? (
            <Badge tone="good">Live</Badge>
          ) : (
            <Badge tone="warn">Connecting</Badge>
          )
        }
      >
        <Button icon={isPaused ? 'right' : 'clock'} onClick={toggle}>
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
      </PageHeader>
      <FilterBar list="events" filters={FILTERS} />
      <DataTable
        label="Events"
        columns={COLUMNS}
        pages={{
          count: feed.events.length,
          at: (index) => feed.events[index],
          first: feed.events,
          isLoading: feed.isLoading,
          isLoadingMore: false,
          hasMore: false,
          error: feed.error,
          loadMore: () => undefined,
          refresh: () => undefined,
        }}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, event: row.id })}
        empty={
          <EmptyState icon="events" title="No event in the last 24 hours">
            Every change of a transfer, a settlement or a fiat account is an event. New ones appear here at
            once.
          </EmptyState>
        }
      />
      {event !== undefined && <EventDrawer id={event} onClose={() => setSearch(filter)} />}
    </>
  );
}

function EventDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const event = useQuery({
    queryKey: ['events', id],
    queryFn: () => ferry.getEvent({ id }),
    staleTime: 60_000,
  });
  const place = event.data && placeOf(event.data);
  return (
    <Drawer open onClose={onClose} title={event.data?.type ?? 'Event'}>
      {event.error !== null && <ProblemNotice error={event.error} />}
      {event.data === undefined ? (
        event.error === null && <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <Facts
            facts={[
              { name: 'Event', value: <Id id={event.data.id} of="event id" whole /> },
              {
                name: 'Resource',
                value:
                  place === undefined ? (
                    <Id id={event.data.resource_id} of="resource id" whole />
                  ) : (
                    <Link to={place} className="text-accent hover:underline">
                      Open it
                    </Link>
                  ),
              },
              { name: 'When', value: <Time at={event.data.created_at} /> },
            ]}
          />
          <Code
            text={JSON.stringify(event.data.data, null, 2)}
            label="The resource, as it was at that time"
          />
        </div>
      )}
    </Drawer>
  );
}
