import { useEffect, useState } from 'react';
import { localTime, relativeTime, shortTime, utcTime } from '~/lib/time.ts';

const RELATIVE_EVERY_MS = 15_000;

function useNow(everyMs: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export type TimeProps = {
  readonly at: string;
  /** `full` with seconds, `short` for tables, `relative` for what just happened. */
  readonly form?: 'full' | 'short' | 'relative';
};

/** In the zone of the reader; UTC, with every digit, on hover. */
export function Time({ at, form = 'full' }: TimeProps) {
  const now = useNow(form === 'relative' ? RELATIVE_EVERY_MS : undefined);
  const text = form === 'full' ? localTime(at) : form === 'short' ? shortTime(at) : relativeTime(at, now);
  return (
    <time
      dateTime={at}
      title={form === 'relative' ? `${localTime(at)}\n${utcTime(at)}` : utcTime(at)}
      className="tabular whitespace-nowrap"
    >
      {text}
    </time>
  );
}
