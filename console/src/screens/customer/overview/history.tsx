import { useQuery } from '@tanstack/react-query';
import { ferry, queryClient } from '~/app/api.ts';
import { addAmounts } from '~/lib/money.ts';
import { localDay } from '~/lib/time.ts';
import { LineChart, Loading, Money, type Point, ProblemNotice } from '~/ui/index.ts';

const DAYS = 30;
/** Requests at a time: as many connections as a browser opens. */
const AT_ONCE = 6;

/** The ends of the last days in the zone of the reader, oldest first. */
function endsOfDays(): Date[] {
  const today = new Date();
  return Array.from(
    { length: DAYS - 1 },
    (_, index) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - (DAYS - 2) + index),
  );
}

/** The past does not change, so it is asked for once. */
const balancesAt = (id: string, at: string) =>
  queryClient.fetchQuery({
    queryKey: ['balances-at', id, at],
    queryFn: async () => (await ferry.listBalances({ id, at })).items,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30 * 60_000,
  });

async function read(id: string, asset: string): Promise<Point[]> {
  const ends = endsOfDays();
  const points: Point[] = [];
  const pointOf = (
    label: string,
    items: readonly { asset: string; available: string; held: string }[],
  ): Point => {
    const found = items.find((one) => one.asset === asset);
    return { label, amount: found === undefined ? '0' : addAmounts(found.available, found.held) };
  };
  for (let from = 0; from < ends.length; from += AT_ONCE) {
    const some = ends.slice(from, from + AT_ONCE);
    const answers = await Promise.all(some.map((end) => balancesAt(id, end.toISOString())));
    // The balance at midnight is that of the day before.
    points.push(...some.map((end, index) => pointOf(localDay(end.getTime() - 1), answers[index]!)));
  }
  const { items } = await ferry.listBalances({ id });
  return [...points, pointOf('now', items)];
}

export function BalanceHistory({ profileId, asset }: { readonly profileId: string; readonly asset: string }) {
  const history = useQuery({
    queryKey: ['balances', profileId, 'history', asset],
    queryFn: () => read(profileId, asset),
    staleTime: 30_000,
  });
  if (history.error !== null) return <ProblemNotice error={history.error} />;
  if (history.data === undefined) return <Loading />;
  const [first, last] = [history.data[0]!, history.data.at(-1)!];
  return (
    <>
      <p className="mb-3 flex flex-wrap items-baseline gap-x-3">
        <Money amount={last.amount} asset={asset} className="text-xl font-semibold" />
        <span className="text-xs text-quiet">
          from <Money amount={first.amount} /> on {first.label}, the end of each day
        </span>
      </p>
      <LineChart title={`Balance in ${asset} at the end of each day`} points={history.data} asset={asset} />
    </>
  );
}
