import { useQueries } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useKeys } from '~/app/keys.ts';
import { Link } from '~/app/link.tsx';
import { useMe } from '~/app/session.ts';
import { cx } from '~/lib/cx.ts';
import {
  EmptyState,
  Icon,
  IconButton,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Skeleton,
  Time,
} from '~/ui/index.ts';
import { type Item, type Queue, queuesFor, READ_MAX } from './waiting.ts';

const AGAIN_MS = 10_000;
/** The rest is one click away. */
const SHOWN = 5;

type Read = {
  readonly queue: Queue;
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => void;
};

export default function WhatWaits() {
  const queues = queuesFor(useMe());
  const results = useQueries({
    queries: queues.map((queue) => ({
      queryKey: ['waiting', queue.id],
      queryFn: () => queue.read(ferry),
      refetchInterval: AGAIN_MS,
    })),
  });
  const reads = results.map(
    ({ data, error, refetch }, index): Read => ({
      queue: queues[index]!,
      items: data,
      error,
      refetch: () => void refetch(),
    }),
  );
  const refresh = (): void => {
    for (const one of reads) one.refetch();
  };
  useKeys({ r: ['Read again', refresh] });
  const isDone = reads.every(({ items, error }) => items !== undefined || error !== null);
  const waiting = reads.filter(({ items, error }) => error !== null || (items?.length ?? 0) > 0);
  return (
    <>
      <PageHeader title="What waits">
        <IconButton label="Read again" icon="refresh" onClick={refresh} />
      </PageHeader>
      <PageBody>
        <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-5 2xl:grid-cols-9">
          {reads.map((one) => (
            <Tile key={one.queue.id} {...one} />
          ))}
        </ul>
        {isDone && waiting.length === 0 && (
          <EmptyState icon="check" title="Nothing waits">
            Unknown outcomes, approvals, deposits in suspense and all else that needs somebody appear here by
            themselves, the oldest first.
          </EmptyState>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          {waiting.map((one) => (
            <Waiting key={one.queue.id} {...one} />
          ))}
        </div>
      </PageBody>
    </>
  );
}

const NUMBER = { bad: 'text-bad', warn: 'text-warn' } as const;
const countOf = (items: readonly Item[]): string => `${items.length}${items.length >= READ_MAX ? '+' : ''}`;

function Tile({ queue, items, error }: Read) {
  const [oldest] = items ?? [];
  return (
    <li>
      <Link
        to={queue.all}
        className="flex h-full flex-col gap-1 rounded-xl border border-line bg-panel px-3 py-2.5 hover:border-line-strong"
      >
        <span className="flex items-center gap-1.5 text-xs text-quiet">
          <Icon name={queue.icon} className="size-3.5 shrink-0" />
          <span className="min-w-0">{queue.title}</span>
        </span>
        <span className="mt-auto flex items-baseline gap-2">
          {items === undefined ? (
            error === null ? (
              <Skeleton className="h-7 w-8" />
            ) : (
              <span className="text-sm text-bad">failed</span>
            )
          ) : (
            <span
              className={cx(
                'tabular text-xl leading-7 font-semibold',
                items.length > 0 ? NUMBER[queue.tone] : 'text-quiet',
              )}
            >
              {countOf(items)}
            </span>
          )}
          {oldest?.since !== undefined && (
            <span className="truncate text-xs text-quiet">
              <Time at={oldest.since} form="relative" />
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}

function Waiting({ queue, items = [], error, refetch }: Read) {
  return (
    <Panel
      flush
      title={queue.title}
      action={
        <Link to={queue.all} className="text-xs text-accent hover:underline">
          All {queue.title.toLowerCase()}
        </Link>
      }
    >
      <p className="border-b border-line/60 px-4 py-2 text-xs text-quiet">{queue.about}</p>
      {error !== null && (
        <div className="p-4">
          <ProblemNotice error={error} retry={refetch} />
        </div>
      )}
      <ul>
        {items.slice(0, SHOWN).map((one) => (
          <li
            key={one.id}
            className="relative flex gap-3 border-b border-line/60 px-4 py-2 text-sm last:border-0 hover:bg-hover"
          >
            <div className="min-w-0 flex-1">
              <Link
                to={one.to}
                className="block truncate font-medium after:absolute after:inset-0 hover:underline"
              >
                {one.what}
              </Link>
              <p className="truncate text-xs text-quiet">{one.why}</p>
            </div>
            {one.since !== undefined && (
              <span className="shrink-0 text-xs text-quiet">
                <Time at={one.since} form="relative" />
              </span>
            )}
          </li>
        ))}
      </ul>
      {items.length > SHOWN && (
        <p className="border-t border-line/60 px-4 py-2 text-xs text-quiet">
          and {items.length - SHOWN} more
          {items.length >= READ_MAX && ', or even more'}
        </p>
      )}
    </Panel>
  );
}
