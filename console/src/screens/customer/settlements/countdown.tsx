import { useEffect, useState } from 'react';
import { durationOf } from '~/lib/time.ts';
import { Time } from '~/ui/index.ts';

/** How long a window is still open, or until it opens; every second. */
export function Countdown({ start, end }: { readonly start: string; readonly end: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const [opensIn, closesIn] = [Date.parse(start) - now, Date.parse(end) - now];
  const isSoon = closesIn < 15 * 60_000;
  if (closesIn <= 0)
    return (
      <span className="text-xs text-quiet">
        Window closed <Time at={end} form="relative" />
      </span>
    );
  return (
    <span className={`tabular text-xs ${isSoon ? 'font-medium text-warn' : 'text-quiet'}`} role="timer">
      {opensIn > 0 ? `Opens in ${durationOf(opensIn)}` : `Closes in ${durationOf(closesIn)}`}
    </span>
  );
}
