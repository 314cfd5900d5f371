import { useEffect, useState } from 'react';
import { localTime, relativeTime, shortTime, utcTime } from '~/lib/time.ts';

const RELATIVE_EVERY_MS = 15_000;

function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
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

type Shown = { readonly at: string; readonly text: string; readonly title: string };

const element = ({ at, text, title }: Shown) => (
  <time dateTime={at} title={title} className="tabular whitespace-nowrap">
    {text}
  </time>
);

function RelativeTime({ at }: { readonly at: string }) {
  const now = useNow(RELATIVE_EVERY_MS);
  return element({ at, text: relativeTime(at, now), title: `${localTime(at)}\n${utcTime(at)}` });
}

/** In the zone of the reader; UTC, with every digit, on hover. */
export function Time({ at, form = 'full' }: TimeProps) {
  if (form === 'relative') return <RelativeTime at={at} />;
  return element({ at, text: form === 'full' ? localTime(at) : shortTime(at), title: utcTime(at) });
}
