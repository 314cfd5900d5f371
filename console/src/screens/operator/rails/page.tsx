import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { cx } from '~/lib/cx.ts';
import { durationOf } from '~/lib/time.ts';
import {
  type AuditEntry,
  Badge,
  EmptyState,
  IconButton,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Time,
} from '~/ui/index.ts';

type OpenWithdrawal = components['schemas']['OpenWithdrawal'];

const AGAIN_MS = 10_000;
/** The last changes of withdrawals from which the time that rails take is computed. */
const CHANGES = 1_000;

type Health = {
  readonly rail: string;
  readonly open: readonly OpenWithdrawal[];
  /** How long the last withdrawals took, from the request to the end, in ms and ascending. */
  readonly tookMs: readonly number[];
  readonly failed: number;
};

type Ended = {
  readonly status?: string;
  readonly type?: string;
  readonly created_at?: string;
  readonly updated_at?: string;
  readonly crypto_network?: string;
};

/** The rail of a withdrawal: the network, or the kind of bank that is in its type. */
const railOf = ({ crypto_network: network, type = '' }: Ended): string =>
  network ?? type.replace('_WITHDRAWAL', '').toLowerCase();

const isEnded = ({ after, before }: AuditEntry): boolean => {
  const [was, is] = [before as Ended | undefined, after as Ended | undefined];
  return (is?.type ?? '').endsWith('_WITHDRAWAL') && is?.status !== 'PENDING' && was?.status === 'PENDING';
};

async function readHealth(): Promise<Health[]> {
  const [{ items: open }, { items: log }] = await Promise.all([
    ferry.listOpenWithdrawals({ limit: 1_000, order: 'ASC' }),
    ferry.listOperatorAuditLog({ actions: ['transfer.*'], limit: CHANGES }),
  ]);
  const ended = log.filter(isEnded).map((one) => one.after as Ended);
  const rails = new Set([...open.map((one) => one.rail), ...ended.map(railOf)]);
  return [...rails].sort().map((rail) => {
    const own = ended.filter((one) => railOf(one) === rail);
    const took = own
      .filter((one) => one.status === 'COMPLETED')
      .map((one) => Date.parse(one.updated_at!) - Date.parse(one.created_at!));
    return {
      rail,
      open: open.filter((one) => one.rail === rail),
      tookMs: took.sort((left, right) => left - right),
      failed: own.length - took.length,
    };
  });
}

export default function Rails() {
  const read = useQuery({ queryKey: ['rails'], queryFn: readHealth, refetchInterval: AGAIN_MS });
  const { data } = read;
  return (
    <>
      <PageHeader title="Rails">
        <IconButton label="Read again" icon="refresh" onClick={() => void read.refetch()} />
      </PageHeader>
      <PageBody>
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {data === undefined && read.error === null && <Loading />}
        {data?.length === 0 && (
          <EmptyState icon="events" title="No withdrawals yet">
            Every rail that has withdrawals is here: what is open, what fails, and how long payments take.
          </EmptyState>
        )}
        <div className="grid grid-cols-1 gap-4 md:grid-cols-2 2xl:grid-cols-3">
          {data?.map((health) => (
            <RailCard key={health.rail} health={health} />
          ))}
        </div>
      </PageBody>
    </>
  );
}

const at = (ascending: readonly number[], part: number): number | undefined =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))];

function RailCard({ health: { rail, open, tookMs, failed } }: { readonly health: Health }) {
  const failing = open.filter((one) => one.failures > 0);
  const unknown = open.filter((one) => one.state === 'UNKNOWN');
  const [oldest] = open;
  const [tone, state] =
    unknown.length > 0
      ? (['bad', 'Unknown outcomes'] as const)
      : failing.length > 0
        ? (['warn', 'Calls fail'] as const)
        : (['good', 'Answers'] as const);
  const facts = [
    ['Open', open.length, `/operator/withdrawals?rails=${rail}`],
    ['Failing', failing.length, `/operator/withdrawals?rails=${rail}`],
    ['Unknown', unknown.length, `/operator/withdrawals?rails=${rail}&states=UNKNOWN`],
  ] as const;
  return (
    <Panel title={rail} action={<Badge tone={tone}>{state}</Badge>}>
      <div className="grid grid-cols-3 gap-2">
        {facts.map(([name, count, to]) => (
          <Link key={name} to={to} className="rounded-md px-2 py-1 hover:bg-hover">
            <span
              className={cx(
                'tabular block text-lg font-semibold',
                count === 0 ? 'text-quiet' : name === 'Unknown' ? 'text-bad' : 'text-ink',
              )}
            >
              {count}
            </span>
            <span className="text-xs text-quiet">{name}</span>
          </Link>
        ))}
      </div>
      <Latency tookMs={tookMs} rail={rail} />
      <p className="mt-2 text-xs text-quiet">
        {tookMs.length} completed and {failed} failed among the last changes
        {oldest !== undefined && (
          <>
            {' · '}the oldest open one is from <Time at={oldest.created_at} form="relative" />
          </>
        )}
      </p>
    </Panel>
  );
}

const BARS_MAX = 24;

/** How long the last payments took, the fastest first: a long tail is seen at once. */
function Latency({ tookMs, rail }: { readonly tookMs: readonly number[]; readonly rail: string }) {
  if (tookMs.length === 0) return <p className="mt-3 text-sm text-quiet">No payment has ended lately.</p>;
  const [median, slow, slowest] = [at(tookMs, 0.5)!, at(tookMs, 0.95)!, tookMs.at(-1)!];
  const count = Math.min(BARS_MAX, tookMs.length);
  const bars = Array.from({ length: count }, (_, index) => at(tookMs, index / count)!);
  return (
    <figure className="mt-3">
      <svg
        viewBox={`0 0 ${BARS_MAX * 10} 40`}
        className="h-10 w-full"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map((ms, index) => {
          const height = Math.max(1, (ms / Math.max(1, slowest)) * 40);
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
              key={index}
              x={index * 10 + 1}
              width="8"
              y={40 - height}
              height={height}
              className="fill-accent"
            />
          );
        })}
      </svg>
      <figcaption className="mt-1 text-xs text-quiet">
        Payments of {rail} take <strong className="font-medium text-ink">{durationOf(median)}</strong>{' '}
        (median), {durationOf(slow)} (95%), {durationOf(slowest)} at most.
      </figcaption>
    </figure>
  );
}
