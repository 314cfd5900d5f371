import { Link } from '~/app/link.tsx';
import { addAmounts, fractionOf } from '~/lib/money.ts';
import { Button, EmptyState, LinkButton, Loading, Money, Panel, ScrollX, Skeleton } from '~/ui/index.ts';
import type { Holding } from './page.tsx';

/** What the profiles own together, per asset. */
export function Totals({ holdings }: { readonly holdings: readonly Holding[] | undefined }) {
  if (holdings === undefined) return <Skeleton className="h-20 w-full rounded-xl" />;
  const byAsset = [...Map.groupBy(holdings, ({ asset }) => asset)];
  if (byAsset.length === 0) return null;
  return (
    <ul
      aria-label="What you own, per asset"
      className="grid grid-cols-1 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-[repeat(auto-fit,minmax(13rem,1fr))]"
    >
      {byAsset.map(([asset, own]) => {
        const available = addAmounts(...own.map((one) => one.available));
        const held = addAmounts(...own.map((one) => one.held));
        return (
          <li key={asset} className="bg-panel px-4 py-3">
            <p className="eyebrow">{asset}</p>
            <p className="text-lg leading-7 font-semibold break-all">
              <Money amount={addAmounts(available, held)} className="whitespace-normal!" />
            </p>
            <p className="text-xs text-quiet">
              <Money amount={available} /> available
              {held !== '0' && (
                <>
                  {' · '}
                  <Money amount={held} className="text-warn" /> held
                </>
              )}
            </p>
          </li>
        );
      })}
    </ul>
  );
}

export function Balances({
  holdings,
  isCut,
  onChoose,
}: {
  readonly holdings: readonly Holding[] | undefined;
  readonly isCut: boolean;
  readonly onChoose: (holding: Holding) => void;
}) {
  return (
    <Panel
      title="Balances by profile"
      flush
      action={
        <LinkButton to="/profiles" variant="ghost">
          {isCut ? 'All profiles' : 'Profiles'}
        </LinkButton>
      }
    >
      {holdings === undefined ? <Loading /> : <Table holdings={holdings} onChoose={onChoose} />}
    </Panel>
  );
}

function Table({
  holdings,
  onChoose,
}: {
  readonly holdings: readonly Holding[];
  readonly onChoose: (holding: Holding) => void;
}) {
  if (holdings.length === 0)
    return (
      <EmptyState
        icon="vault"
        title="No balances yet"
        action={<LinkButton to="/new/deposit-address">Create a deposit address</LinkButton>}
      >
        The first deposit to a profile appears here.
      </EmptyState>
    );
  const fraction = fractionOf(holdings.flatMap(({ available, held }) => [available, held]));
  return (
    <ScrollX label="Balances by profile">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="eyebrow px-4 py-2">
              Profile
            </th>
            <th scope="col" className="eyebrow px-2 py-2">
              Asset
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right">
              Available
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right max-sm:hidden">
              Held
            </th>
            <th scope="col" className="px-4 py-2 max-sm:hidden">
              <span className="sr-only">Picture</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {holdings.map((one) => (
            <tr key={`${one.profile.id}${one.asset}`} className="border-b border-line/60 last:border-0">
              <td className="max-w-40 truncate px-4 py-1.5">
                <Link to={`/profiles/${one.profile.id}`} className="hover:underline">
                  {one.profile.nickname}
                </Link>
              </td>
              <td className="px-2 py-1.5 text-quiet">{one.asset}</td>
              <td className="px-2 py-1.5 text-right">
                <Money amount={one.available} fraction={fraction} />
              </td>
              <td className="px-2 py-1.5 text-right max-sm:hidden">
                <Money
                  amount={one.held}
                  fraction={fraction}
                  className={one.held === '0' ? 'text-quiet' : 'text-warn'}
                />
              </td>
              <td className="px-4 py-1 text-right max-sm:hidden">
                <Button
                  variant="ghost"
                  icon="chart"
                  aria-label={`Show ${one.asset} of ${one.profile.nickname} over time`}
                  onClick={() => onChoose(one)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollX>
  );
}
