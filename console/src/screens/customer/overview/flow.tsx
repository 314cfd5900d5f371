import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { addAmounts, compareAmounts, fractionOf, ratioOf } from '~/lib/money.ts';
import { localDay } from '~/lib/time.ts';
import { words } from '~/lib/words.ts';
import { EmptyState, Loading, Money, Panel, ProblemNotice } from '~/ui/index.ts';
import type { Transfer } from '../transfers/page.tsx';

const DAYS = 14;
const PAGE = 1_000;
/** Transfers that one picture reads. Of more, it shows the latest and says so. */
const READ_MAX = 5_000;

const railOf = ({ type, crypto_network: network }: Transfer): string =>
  network ?? type.replace(/_(DEPOSIT|WITHDRAWAL|DEBIT|CREDIT)$/, '');

type Sums = { in: string; out: string };
type Flows = {
  readonly days: readonly (Sums & { readonly label: string })[];
  readonly rails: readonly (Sums & { readonly rail: string; readonly count: number })[];
  readonly isCut: boolean;
};

const sumOf = (transfers: readonly Transfer[]): Sums => {
  const of = (direction: Transfer['direction']): string =>
    addAmounts('0', ...transfers.filter((one) => one.direction === direction).map((one) => one.total));
  return { in: of('CREDIT'), out: of('DEBIT') };
};

async function read(profileId: string, asset: string): Promise<Flows> {
  const today = new Date();
  const starts = Array.from(
    { length: DAYS },
    (_, index) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - (DAYS - 1) + index),
  );
  const found: Transfer[] = [];
  let count = 0;
  const list = ferry.listTransfers({
    profile_ids: [profileId],
    statuses: ['COMPLETED'],
    'created_at.gte': starts[0]!.toISOString(),
    limit: PAGE,
  });
  for await (const transfer of list) {
    count += 1;
    if (count > READ_MAX) break;
    if ((transfer.balance_asset ?? transfer.asset) === asset) found.push(transfer);
  }
  const byDay = Map.groupBy(found, ({ created_at: at }) => new Date(at).toDateString());
  return {
    days: starts.map((start) => ({
      label: localDay(start.getTime()),
      ...sumOf(byDay.get(start.toDateString()) ?? []),
    })),
    rails: [...Map.groupBy(found, railOf)].map(([rail, own]) => ({ rail, count: own.length, ...sumOf(own) })),
    isCut: count > READ_MAX,
  };
}

/** What came in and went out of a profile, per day and per rail. */
export function Flow({
  profileId,
  name,
  asset,
}: {
  readonly profileId: string;
  readonly name: string;
  readonly asset: string;
}) {
  const flows = useQuery({
    queryKey: ['transfers', 'flow', profileId, asset],
    queryFn: () => read(profileId, asset),
    staleTime: 30_000,
  });
  return (
    <Panel title={`In and out of ${name} in ${asset}, last ${DAYS} days`}>
      {flows.error !== null && <ProblemNotice error={flows.error} />}
      {flows.data === undefined ? (
        flows.error === null && <Loading />
      ) : flows.data.rails.length === 0 ? (
        <EmptyState icon="chart" title="Nothing moved">
          Completed transfers of this profile and asset appear here, per day and per rail.
        </EmptyState>
      ) : (
        <>
          <Picture {...flows.data} asset={asset} />
          <Rails rails={flows.data.rails} />
          {flows.data.isCut && (
            <p className="mt-2 text-xs text-quiet">
              Only the latest {READ_MAX.toLocaleString('en')} transfers.
            </p>
          )}
        </>
      )}
    </Panel>
  );
}

const [WIDTH, HALF] = [600, 56];

function Picture({ days, asset }: Flows & { readonly asset: string }) {
  const largest = days
    .flatMap((day) => [day.in, day.out])
    .reduce((most, one) => (compareAmounts(one, most) > 0 ? one : most), '0');
  const step = WIDTH / days.length;
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HALF * 2}`}
        preserveAspectRatio="none"
        className="h-32 w-full"
        aria-hidden="true"
      >
        {days.map((day, index) => {
          const [up, down] = [ratioOf(day.in, largest) * (HALF - 4), ratioOf(day.out, largest) * (HALF - 4)];
          const x = index * step + step * 0.2;
          return (
            <g key={day.label}>
              <title>{`${day.label}: +${day.in} −${day.out} ${asset}`}</title>
              <rect x={x} width={step * 0.6} y={HALF - up} height={up} className="fill-good" />
              <rect x={x} width={step * 0.6} y={HALF} height={down} className="fill-accent" />
            </g>
          );
        })}
        <line
          x1="0"
          x2={WIDTH}
          y1={HALF}
          y2={HALF}
          className="stroke-line-strong"
          strokeWidth="1"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <div className="mt-1 mb-3 flex justify-between text-xs text-quiet" aria-hidden="true">
        <span>{days[0]?.label}</span>
        <span className="flex gap-3">
          <span className="flex items-center gap-1">
            <span className="size-2 rounded-sm bg-good" /> in
          </span>
          <span className="flex items-center gap-1">
            <span className="size-2 rounded-sm bg-accent" /> out
          </span>
        </span>
        <span>{days.at(-1)?.label}</span>
      </div>
      <table className="sr-only">
        <caption>In and out per day, in {asset}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.label}>
              <th scope="row">{day.label}</th>
              <td>{day.in}</td>
              <td>{day.out}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Rails({ rails }: Pick<Flows, 'rails'>) {
  const fraction = fractionOf(rails.flatMap((one) => [one.in, one.out]));
  return (
    <table className="w-full text-sm">
      <thead>
        <tr className="border-b border-line text-left">
          <th scope="col" className="eyebrow py-1.5">
            Rail
          </th>
          <th scope="col" className="eyebrow py-1.5 text-right">
            In
          </th>
          <th scope="col" className="eyebrow py-1.5 text-right">
            Out
          </th>
          <th scope="col" className="eyebrow py-1.5 pl-3 text-right max-sm:hidden">
            Transfers
          </th>
        </tr>
      </thead>
      <tbody>
        {rails.map(({ rail, count, ...sums }) => (
          <tr key={rail} className="border-b border-line/60 last:border-0">
            <th scope="row" className="py-1.5 text-left font-normal">
              {words(rail)}
            </th>
            <td className="py-1.5 text-right">
              <Money amount={sums.in} fraction={fraction} />
            </td>
            <td className="py-1.5 text-right">
              <Money amount={sums.out} fraction={fraction} />
            </td>
            <td className="tabular py-1.5 pl-3 text-right max-sm:hidden">{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
