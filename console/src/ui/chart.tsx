import { useId } from 'react';
import { ratioOf } from '~/lib/money.ts';

/** Amounts stay texts; only the picture has a number, the part of the largest one. */
export type Point = { readonly label: string; readonly amount: string };

const [WIDTH, HEIGHT] = [600, 160];
/** A single day is a bar, too, not a wall. */
const BAR_MAX = 48;

function largestOf(points: readonly Point[]): string {
  return points.reduce(
    (largest, { amount }) => (ratioOf(amount, largest) > 1 || largest === '0' ? amount : largest),
    '0',
  );
}

type ChartProps = {
  /** What it shows, in a sentence: a reader who does not see it gets this and the table. */
  readonly title: string;
  readonly points: readonly Point[];
  readonly asset?: string;
};

/** The same as a table, for those who do not see the picture. */
function AsTable({ title, points, asset = '' }: ChartProps) {
  return (
    <table className="sr-only">
      <caption>{title}</caption>
      <tbody>
        {points.map(({ label, amount }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>
              {amount} {asset}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Frame({ title, points, asset, children }: ChartProps & { readonly children: React.ReactNode }) {
  const [first, last] = [points[0], points.at(-1)];
  return (
    <figure className="min-w-0">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-40 w-full"
        aria-hidden="true"
      >
        {[0, 0.5, 1].map((part) => (
          <line
            key={part}
            x1="0"
            x2={WIDTH}
            y1={1 + part * (HEIGHT - 2)}
            y2={1 + part * (HEIGHT - 2)}
            className="stroke-line"
            strokeWidth="1"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        {children}
      </svg>
      <div className="mt-1 flex justify-between text-xs text-quiet" aria-hidden="true">
        <span>{first?.label}</span>
        <span>{last?.label}</span>
      </div>
      <AsTable title={title} points={points} {...(asset !== undefined && { asset })} />
    </figure>
  );
}

/** Something over time, such as a balance. */
export function LineChart(props: ChartProps) {
  const { points } = props;
  const fill = useId();
  const largest = largestOf(points);
  const places = points.map(({ amount }, index) => {
    const x = points.length === 1 ? WIDTH : (index / (points.length - 1)) * WIDTH;
    return [x, HEIGHT - 2 - Math.max(0, ratioOf(amount, largest)) * (HEIGHT - 12)] as const;
  });
  const line = places
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join('');
  return (
    <Frame {...props}>
      <defs>
        <linearGradient id={fill} x1="0" x2="0" y1="0" y2="1">
          <stop offset="0" className="[stop-color:var(--color-accent)] [stop-opacity:0.22]" />
          <stop offset="1" className="[stop-color:var(--color-accent)] [stop-opacity:0]" />
        </linearGradient>
      </defs>
      {places.length > 0 && (
        <path d={`${line}L${WIDTH} ${HEIGHT}L${places[0]![0]} ${HEIGHT}Z`} fill={`url(#${fill})`} />
      )}
      <path
        d={line}
        fill="none"
        className="stroke-accent"
        strokeWidth="1.75"
        vectorEffect="non-scaling-stroke"
      />
    </Frame>
  );
}

/** Something per day or per rail. */
export function BarChart(props: ChartProps) {
  const { points } = props;
  const largest = largestOf(points);
  const step = WIDTH / Math.max(1, points.length);
  const width = Math.min(step * 0.7, BAR_MAX);
  return (
    <Frame {...props}>
      {points.map(({ label, amount }, index) => {
        const height = Math.max(0, ratioOf(amount, largest)) * (HEIGHT - 12);
        return (
          <rect
            key={label}
            x={index * step + (step - width) / 2}
            width={width}
            y={HEIGHT - height}
            height={height}
            rx="2"
            className="fill-accent"
          >
            <title>{`${label}: ${amount}`}</title>
          </rect>
        );
      })}
    </Frame>
  );
}
