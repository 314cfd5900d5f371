import { useProfileName } from '~/customer/data.ts';
import { addAmounts, compareAmounts, formatAmount, negated, ratioOf } from '~/lib/money.ts';
import { Money, Panel } from '~/ui/index.ts';
import type { Settlement } from './board.tsx';

type Debt = { readonly other: string; readonly asset: string; readonly net: string };

/** What affirmed transactions amount to, per other party and asset: positive if they owe you. */
function debtsOf(open: readonly Settlement[], own: ReadonlySet<string>): Debt[] {
  const sums = new Map<string, Debt>();
  for (const one of open) {
    const isSource = own.has(one.source_profile_id);
    const other = isSource ? one.target_profile_id : one.source_profile_id;
    for (const { direction, asset, amount } of one.legs) {
      const leaves = (direction === 'DELIVER') === isSource;
      const key = `${other} ${asset}`;
      const before = sums.get(key)?.net ?? '0';
      sums.set(key, { other, asset, net: addAmounts(before, leaves ? negated(amount) : amount) });
    }
  }
  return [...sums.values()].filter(({ net }) => net !== '0');
}

const abs = (amount: string): string => amount.replace('-', '');
const [WIDTH, LINE] = [640, 34];

/** Who owes whom: you in the middle, lines as thick as the part of the largest debt in that asset. */
export function Network({
  open,
  own,
}: {
  readonly open: readonly Settlement[];
  readonly own: ReadonlySet<string>;
}) {
  const nameOf = useProfileName();
  const debts = debtsOf(open, own);
  if (debts.length === 0) return null;
  const parties = [...new Set(debts.map(({ other }) => other))];
  const largest = new Map<string, string>();
  for (const { asset, net } of debts)
    if (compareAmounts(abs(net), largest.get(asset) ?? '0') > 0) largest.set(asset, abs(net));
  const height = Math.max(2, debts.length) * LINE + 16;
  const label = (id: string): string => nameOf(id) ?? `…${id.slice(-8)}`;
  return (
    <Panel title="Who owes whom, of what is affirmed">
      <div className="grid grid-cols-1 items-center gap-4 lg:grid-cols-2">
        <svg viewBox={`0 0 ${WIDTH} ${height}`} className="w-full text-xs max-sm:hidden" aria-hidden="true">
          {debts.map(({ other, asset, net }, index) => {
            const y = 8 + LINE / 2 + index * LINE;
            const owed = compareAmounts(net, '0') > 0;
            const part = ratioOf(abs(net), largest.get(asset) ?? '1');
            return (
              <g key={`${other}${asset}`}>
                <path
                  d={`M70 ${height / 2} C 220 ${height / 2}, 260 ${y}, 430 ${y}`}
                  fill="none"
                  className={owed ? 'stroke-good' : 'stroke-accent'}
                  strokeWidth={1.5 + part * 5}
                  strokeOpacity="0.55"
                />
                <circle cx="430" cy={y} r="4" className={owed ? 'fill-good' : 'fill-accent'} />
                <text x="444" y={y - 2} className="fill-ink font-mono">
                  {label(other)}
                </text>
                <text x="444" y={y + 12} className="fill-quiet">
                  {owed ? 'owes you' : 'you owe'} {formatAmount(abs(net))} {asset}
                </text>
              </g>
            );
          })}
          <circle
            cx="48"
            cy={height / 2}
            r="22"
            className="fill-accent-soft stroke-accent"
            strokeWidth="1.5"
          />
          <text x="48" y={height / 2 + 4} textAnchor="middle" className="fill-accent font-semibold">
            You
          </text>
        </svg>
        <table className="w-full text-sm">
          <caption className="sr-only">Net obligations per party and asset</caption>
          <thead>
            <tr className="border-b border-line text-left">
              <th scope="col" className="eyebrow py-1.5">
                Party
              </th>
              <th scope="col" className="eyebrow py-1.5 text-right">
                Owes you
              </th>
              <th scope="col" className="eyebrow py-1.5 text-right">
                You owe
              </th>
            </tr>
          </thead>
          <tbody>
            {parties.flatMap((party) =>
              debts
                .filter(({ other }) => other === party)
                .map(({ asset, net }) => (
                  <tr key={`${party}${asset}`} className="border-b border-line/60 last:border-0">
                    <th scope="row" className="py-1.5 text-left font-mono text-xs font-normal">
                      {label(party)}
                    </th>
                    <td className="py-1.5 text-right">
                      {compareAmounts(net, '0') > 0 && (
                        <Money amount={net} asset={asset} className="text-good" />
                      )}
                    </td>
                    <td className="py-1.5 text-right">
                      {compareAmounts(net, '0') < 0 && <Money amount={abs(net)} asset={asset} />}
                    </td>
                  </tr>
                )),
            )}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
