import type { ReactNode } from 'react';
import { cx } from '~/lib/cx.ts';
import { durationOf } from '~/lib/time.ts';
import type { Tone } from './badge.tsx';
import { Time } from './time.tsx';

export type TimelineItem = {
  readonly id: string;
  readonly at: string;
  readonly title: ReactNode;
  readonly tone?: Tone;
  /** Who or what did it. */
  readonly by?: ReactNode;
  readonly children?: ReactNode;
};

const DOTS: Readonly<Record<Tone, string>> = {
  neutral: 'bg-line-strong',
  accent: 'bg-accent',
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
};

/** What happened, from the first to the last, with the time between two steps. */
export function Timeline({ items }: { readonly items: readonly TimelineItem[] }) {
  return (
    <ol className="flex flex-col">
      {items.map(({ id, at, title, tone = 'neutral', by, children }, index) => {
        const before = items[index - 1];
        const passedMs = before === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
        return (
          <li key={id} className="relative flex gap-3 pb-4 last:pb-0">
            {index < items.length - 1 && (
              <span className="absolute top-4 bottom-0 left-[5px] w-px bg-line" aria-hidden="true" />
            )}
            <span
              className={cx('mt-1.5 size-[11px] shrink-0 rounded-full border-2 border-panel', DOTS[tone])}
              aria-hidden="true"
            />
            <div className="min-w-0 flex-1">
              <div className="flex flex-wrap items-baseline gap-x-2">
                <span className="text-sm font-medium">{title}</span>
                {by !== undefined && <span className="text-xs text-quiet">{by}</span>}
              </div>
              <div className="text-xs text-quiet">
                <Time at={at} />
                {passedMs > 0 && <span className="ml-2">+{durationOf(passedMs)}</span>}
              </div>
              {children !== undefined && <div className="mt-1 text-sm break-words">{children}</div>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
