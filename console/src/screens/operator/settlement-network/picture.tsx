import { compareAmounts, formatAmount, ratioOf } from '~/lib/money.ts';
import type { Obligation } from './page.tsx';

const SIZE = 420;
const MIDDLE = SIZE / 2;
const RADIUS = 140;
/** More would be a tangle; the table beside it has all. */
const PARTIES_MAX = 24;

type Place = { readonly x: number; readonly y: number };

const at = (index: number, count: number, radius: number): Place => {
  const angle = (index / count) * 2 * Math.PI - Math.PI / 2;
  return { x: MIDDLE + radius * Math.cos(angle), y: MIDDLE + radius * Math.sin(angle) };
};

/** Profiles on a circle; an arrow from who owes to who is owed, as thick as its part of the largest debt in that asset. */
export function Picture({ obligations }: { readonly obligations: readonly Obligation[] }) {
  const parties = [...new Set(obligations.flatMap((one) => [one.from_profile_id, one.to_profile_id]))].slice(
    0,
    PARTIES_MAX,
  );
  const shown = obligations.filter(
    (one) => parties.includes(one.from_profile_id) && parties.includes(one.to_profile_id),
  );
  const largest = new Map<string, string>();
  for (const { asset, amount } of shown)
    if (compareAmounts(amount, largest.get(asset) ?? '0') > 0) largest.set(asset, amount);
  const placeOf = (id: string): Place => at(parties.indexOf(id), parties.length, RADIUS);
  return (
    <svg
      viewBox={`0 0 ${SIZE} ${SIZE}`}
      className="mx-auto w-full max-w-md text-2xs max-sm:hidden"
      aria-hidden="true"
    >
      <defs>
        <marker
          id="owes"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="9"
          markerHeight="9"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8Z" className="fill-accent" />
        </marker>
      </defs>
      {shown.map((one) => (
        <Arrow
          key={`${one.from_profile_id}${one.to_profile_id}${one.asset}`}
          from={placeOf(one.from_profile_id)}
          to={placeOf(one.to_profile_id)}
          width={1 + 4 * ratioOf(one.amount, largest.get(one.asset)!)}
          title={`${formatAmount(one.amount)} ${one.asset}`}
        />
      ))}
      {parties.map((id, index) => {
        const place = placeOf(id);
        const label = at(index, parties.length, RADIUS + 26);
        return (
          <g key={id}>
            <circle
              cx={place.x}
              cy={place.y}
              r="9"
              className="fill-accent-soft stroke-accent"
              strokeWidth="1.5"
            />
            <text
              x={label.x}
              y={label.y + 3}
              textAnchor={Math.abs(label.x - MIDDLE) < 12 ? 'middle' : label.x > MIDDLE ? 'start' : 'end'}
              className="fill-ink font-mono"
            >
              …{id.slice(-6)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

type ArrowProps = {
  readonly from: Place;
  readonly to: Place;
  readonly width: number;
  readonly title: string;
};

/** Bent towards the middle, so that arrows between neighbours do not lie on the circle. */
function Arrow({ from, to, width, title }: ArrowProps) {
  const bend = { x: (from.x + to.x + 2 * MIDDLE) / 4, y: (from.y + to.y + 2 * MIDDLE) / 4 };
  const away = Math.hypot(bend.x - to.x, bend.y - to.y) || 1;
  const end = { x: to.x + ((bend.x - to.x) / away) * 12, y: to.y + ((bend.y - to.y) / away) * 12 };
  return (
    <path
      d={`M${from.x} ${from.y} Q ${bend.x} ${bend.y} ${end.x} ${end.y}`}
      fill="none"
      className="stroke-accent"
      strokeOpacity="0.6"
      strokeWidth={width}
      markerEnd="url(#owes)"
    >
      <title>{title}</title>
    </path>
  );
}
