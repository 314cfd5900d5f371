// The comparison as a picture, drawn by hand: a handful of bars needs no library.
import { integer } from '../figures.ts';
import type { Machine } from '../machine.ts';
import type { Comparison } from './comparison.ts';
import { atBestConnections, bestOf, rateOf } from './variants.ts';

type Bar = { readonly label: string; readonly detail: string; readonly value: number; readonly own: boolean };

const WIDTH = 760;
const LABELS_WIDTH = 210;
const VALUES_WIDTH = 90;
const TOP = 76;
const BAR_HEIGHT = 30;
const STEP = 48;

function barsOf({ ferry, naive }: Comparison): Bar[] {
  const { spread, hotSource, hotDestination } = atBestConnections(ferry);
  const connections = `${spread.concurrency} connections`;
  const [naiveSpread, naiveHot] = [bestOf(naive, 'spread'), bestOf(naive, 'hot source')];
  return [
    { label: 'Ferry, spread', detail: connections, value: rateOf(spread), own: true },
    { label: 'Ferry, hot source', detail: connections, value: rateOf(hotSource), own: true },
    { label: 'Ferry, hot destination', detail: connections, value: rateOf(hotDestination), own: true },
    {
      label: 'naive SQL, spread',
      detail: `${naiveSpread.concurrency} clients`,
      value: rateOf(naiveSpread),
      own: false,
    },
    {
      label: 'naive SQL, hot source',
      detail: `${naiveHot.concurrency} clients`,
      value: rateOf(naiveHot),
      own: false,
    },
  ];
}

/** A round number of steps that covers the largest bar: 1, 2 or 5 times a power of ten apart. */
function stepOf(largest: number): number {
  const rough = largest / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough)!;
}

/** Greys and colours that are legible on a light and on a dark page alike; the background is the page's. */
const STYLE = `
    text { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #7a828c; }
    .title { font-size: 17px; font-weight: 600; }
    .note, .axis, .detail { font-size: 12px; }
    .label { font-size: 14px; font-weight: 500; }
    .value { font-size: 14px; font-weight: 600; }
    .own { fill: #2f81c7; }
    .other { fill: #8d96a0; }
    .grid { stroke: #8d96a0; stroke-opacity: 0.35; stroke-width: 1; }
  `;

export function drawChart(comparison: Comparison, machine: Machine): string {
  const bars = barsOf(comparison);
  const step = stepOf(Math.max(...bars.map(({ value }) => value)));
  const scale = (value: number): number =>
    (value / (step * Math.ceil(Math.max(...bars.map((bar) => bar.value)) / step))) *
    (WIDTH - LABELS_WIDTH - VALUES_WIDTH);
  const bottom = TOP + bars.length * STEP;
  const lines: string[] = [];
  for (let tick = 0; LABELS_WIDTH + scale(tick) <= WIDTH - VALUES_WIDTH + 1; tick += step) {
    const x = (LABELS_WIDTH + scale(tick)).toFixed(1);
    lines.push(`<line class="grid" x1="${x}" y1="${TOP - 10}" x2="${x}" y2="${bottom}"/>`);
    lines.push(`<text class="axis" x="${x}" y="${bottom + 18}" text-anchor="middle">${integer(tick)}</text>`);
  }
  for (const [index, { label, detail, value, own }] of bars.entries()) {
    const y = TOP + index * STEP;
    const width = scale(value);
    lines.push(
      `<text class="label" x="${LABELS_WIDTH - 12}" y="${y + 14}" text-anchor="end">${label}</text>`,
      `<text class="detail" x="${LABELS_WIDTH - 12}" y="${y + 29}" text-anchor="end">${detail}</text>`,
      `<rect class="${own ? 'own' : 'other'}" x="${LABELS_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/>`,
      `<text class="value" x="${(LABELS_WIDTH + width + 8).toFixed(1)}" y="${y + 20}">${integer(value)}</text>`,
    );
  }
  const note =
    `${machine.cores} cores, PostgreSQL ${machine.postgresql}, fsync and synchronous_commit on; ` +
    `the load generator runs on the same machine`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 30}" width="${WIDTH}" height="${bottom + 30}" role="img" aria-label="Transfers a second, Ferry and naive SQL">
  <style>${STYLE}</style>
  <text class="title" x="12" y="26">Transfers a second</text>
  <text class="note" x="12" y="46">${note}</text>
  ${lines.join('\n  ')}
</svg>
`;
}
