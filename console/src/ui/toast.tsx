import { cx } from '~/lib/cx.ts';
import { cell, useCell } from '~/lib/emitter.ts';
import { Icon } from './icon.tsx';

type Toast = { readonly id: number; readonly text: string; readonly tone: 'good' | 'bad' };

const toasts = cell<readonly Toast[]>([]);
const SHOWN_MS = 5_000;
let count = 0;

/** Says in a sentence what has happened. Problems stay on the screen instead, as a `ProblemNotice`. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  count += 1;
  const id = count;
  toasts.set([...toasts.get().slice(-2), { id, text, tone }]);
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), SHOWN_MS);
}

/** The live region: it is always there, so that screen readers announce what comes into it. */
export function Toasts() {
  const shown = useCell(toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-center gap-2 sm:items-end"
    >
      {shown.map(({ id, text, tone }) => (
        <div
          key={id}
          className="flex max-w-md items-center gap-2 rounded-lg border border-line bg-panel px-3 py-2 text-sm shadow-pop"
        >
          <Icon
            name={tone === 'good' ? 'check' : 'alert'}
            className={cx('size-4 shrink-0', tone === 'good' ? 'text-good' : 'text-bad')}
          />
          {text}
        </div>
      ))}
    </div>
  );
}
