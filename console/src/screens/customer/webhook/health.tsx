import { counted } from '~/lib/words.ts';
import type { Delivery } from './page.tsx';

const SHOWN = 80;
const COLOURS = { DELIVERED: 'bg-good', PENDING: 'bg-warn', FAILED: 'bg-bad' } as const;

/** The latest deliveries, oldest first: as high as the answer took, in the colour of the outcome. */
export function DeliveryHealth({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) return null;
  const shown = deliveries.slice(0, SHOWN).reverse();
  const slowest = Math.max(1, ...shown.map(({ response }) => response?.duration_ms ?? 0));
  const answered = shown.filter(({ status }) => status === 'DELIVERED').length;
  const times = shown
    .flatMap(({ response }) => response?.duration_ms ?? [])
    .sort((left, right) => left - right);
  const median = times[Math.floor(times.length / 2)];
  return (
    <figure className="mx-4 mb-3 flex flex-wrap items-end gap-x-6 gap-y-2 rounded-xl border border-line bg-panel px-4 py-3 sm:mx-6">
      <div className="flex h-10 min-w-40 flex-1 items-end gap-px" aria-hidden="true">
        {shown.map(({ id, status, response, event_type: type }) => (
          <span
            key={id}
            title={`${type}: ${status.toLowerCase()}${response === undefined ? '' : `, ${response.duration_ms} ms`}`}
            className={`max-w-3 flex-1 rounded-sm ${COLOURS[status]}`}
            style={{ height: `${15 + 85 * ((response?.duration_ms ?? slowest / 4) / slowest)}%` }}
          />
        ))}
      </div>
      <figcaption className="text-xs text-quiet">
        <strong className="font-medium text-ink">
          {answered} of {counted(shown.length, 'delivery', 'deliveries')}
        </strong>{' '}
        answered with 2xx
        {median !== undefined && (
          <>
            {' '}
            · half of them within <span className="tabular">{median} ms</span>
          </>
        )}
      </figcaption>
    </figure>
  );
}
