import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { cx } from '~/lib/cx.ts';
import { counted, words } from '~/lib/words.ts';
import {
  Badge,
  EmptyState,
  IconButton,
  Id,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Time,
  type Tone,
} from '~/ui/index.ts';

type Health = Answer<'getWebhookHealth'>;
type Endpoint = Health['items'][number];

const AGAIN_MS = 10_000;
const TONES: Readonly<Record<Endpoint['state'], Tone>> = {
  FAILING: 'bad',
  DISABLED: 'neutral',
  DELIVERING: 'good',
};
const MARKS = { DELIVERED: 'bg-good', PENDING: 'bg-warn', FAILED: 'bg-bad' } as const;

export default function Webhooks() {
  const read = useQuery({
    queryKey: ['webhook-health'],
    queryFn: () => ferry.getWebhookHealth({}),
    refetchInterval: AGAIN_MS,
  });
  return (
    <>
      <PageHeader title="Webhooks">
        <IconButton label="Read again" icon="refresh" onClick={() => void read.refetch()} />
      </PageHeader>
      <PageBody>
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {read.data === undefined && read.error === null && <Loading />}
        {read.data !== undefined && <Endpoints health={read.data} />}
      </PageBody>
    </>
  );
}

function Endpoints({ health: { delivering, failing, disabled, items } }: { readonly health: Health }) {
  if (items.length === 0)
    return (
      <EmptyState icon="webhook" title="No webhook endpoints">
        Every endpoint of every customer is here: whether it answers, since when it does not, and how much
        waits for it.
      </EmptyState>
    );
  const total = delivering + failing + disabled;
  const parts = [
    ['Answer', delivering, 'bg-good'],
    ['Fail', failing, 'bg-bad'],
    ['Disabled', disabled, 'bg-line-strong'],
  ] as const;
  return (
    <>
      <Panel title={counted(total, 'endpoint', 'endpoints')}>
        <div className="flex h-2 gap-px overflow-hidden rounded-full bg-raised" aria-hidden="true">
          {parts.map(([name, count, colour]) => (
            <span key={name} className={colour} style={{ width: `${(count / total) * 100}%` }} />
          ))}
        </div>
        <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2 text-sm">
          {parts.map(([name, count, colour]) => (
            <div key={name} className="flex items-baseline gap-2">
              <dt className="flex items-center gap-1.5 text-quiet">
                <span className={cx('size-2 rounded-full', colour)} aria-hidden="true" />
                {name}
              </dt>
              <dd className="tabular font-semibold">{count}</dd>
            </div>
          ))}
        </dl>
      </Panel>
      <ul className="grid grid-cols-1 gap-4 xl:grid-cols-2">
        {items.map((one) => (
          <li key={one.webhook_id}>
            <EndpointCard endpoint={one} />
          </li>
        ))}
      </ul>
      {items.length < total && (
        <p className="text-sm text-quiet">
          The {items.length} that need attention most, of {total}.
        </p>
      )}
    </>
  );
}

function EndpointCard({ endpoint }: { readonly endpoint: Endpoint }) {
  const { webhook_id: id, customer_id: customer, url, state, pending, failures } = endpoint;
  const { failing_since: since, oldest_pending_at: oldest, disabled_reason: reason } = endpoint;
  return (
    <Panel
      title={
        <Link to={`/webhooks/${id}?customer=${customer}`} className="break-all hover:underline">
          {url}
        </Link>
      }
      action={<Badge tone={TONES[state]}>{words(state)}</Badge>}
    >
      <Latest latest={endpoint.latest} />
      <p className="mt-2 text-xs text-quiet">
        {since !== undefined && (
          <>
            Every attempt since <Time at={since} form="short" /> has failed ({failures}).{' '}
          </>
        )}
        {reason !== undefined && `${reason} `}
        {pending === 0 ? (
          'Nothing waits.'
        ) : (
          <>
            {counted(pending, 'delivery waits', 'deliveries wait')}
            {oldest !== undefined && (
              <>
                , the oldest since <Time at={oldest} form="short" />
              </>
            )}
            .
          </>
        )}{' '}
        Customer <Id id={customer} of="customer id" />
      </p>
    </Panel>
  );
}

/** The latest deliveries, the newest at the right, in the colour of the outcome. */
function Latest({ latest }: { readonly latest: Endpoint['latest'] }) {
  if (latest.length === 0) return <p className="text-sm text-quiet">Nothing was sent yet.</p>;
  const delivered = latest.filter((status) => status === 'DELIVERED').length;
  return (
    <figure className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <div className="flex h-6 items-stretch gap-0.5" aria-hidden="true">
        {[...latest].reverse().map((status, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a mark is its place
          <span key={index} title={words(status)} className={cx('w-1.5 rounded-sm', MARKS[status])} />
        ))}
      </div>
      <figcaption className="text-xs text-quiet">
        <strong className="font-medium text-ink">
          {delivered} of the latest {latest.length}
        </strong>{' '}
        answered with 2xx
      </figcaption>
    </figure>
  );
}
