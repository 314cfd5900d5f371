import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import type { RuleOf } from './policy.ts';
import { DAYS } from './schema.ts';

/** Business hours in a time zone, as the calendar of that zone has them: also on days on which the clocks change. */

export type Hours = Pick<RuleOf<'business_hours'>, 'time_zone' | 'days' | 'from' | 'to'>;

const MINUTE_MS = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timeZone, made);
  return made;
}

export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

const minutesOf = (time: string): number => {
  const [hours, minutes] = time.split(':').map(Number);
  return hours! * 60 + minutes!;
};

function localAt(ms: number, timeZone: string): { day: (typeof DAYS)[number]; minute: number } {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const day = DAYS.find((one) => one === parts.weekday!.toUpperCase())!;
  return { day, minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

const msOf = (now: Instant): number => Number(now / NS_PER_MS);

function isOpenMs(hours: Hours, ms: number): boolean {
  const { day, minute } = localAt(ms, hours.time_zone);
  return hours.days.includes(day) && minute >= minutesOf(hours.from) && minute < minutesOf(hours.to);
}

export function isOpen(hours: Hours, now: Instant): boolean {
  return isOpenMs(hours, msOf(now));
}

/** The first whole minute at which it is open, within eight days: the hours are not empty, so there is one. */
export function nextOpening(hours: Hours, now: Instant): Instant {
  // In quarters of an hour first, which is where hours begin nearly always, then the minutes before.
  const first = Math.ceil((msOf(now) + 1) / MINUTE_MS) * MINUTE_MS;
  const step = 15 * MINUTE_MS;
  const last = first + 8 * 24 * 60 * MINUTE_MS;
  for (let at = first; at <= last; at += step) {
    if (!isOpenMs(hours, at)) continue;
    let open = at;
    while (open - MINUTE_MS > at - step && open - MINUTE_MS >= first && isOpenMs(hours, open - MINUTE_MS))
      open -= MINUTE_MS;
    return BigInt(open) * NS_PER_MS;
  }
  // Hours shorter than a quarter of an hour can lie between two steps.
  for (let at = first; at <= last; at += MINUTE_MS) if (isOpenMs(hours, at)) return BigInt(at) * NS_PER_MS;
  throw new Error(`the hours from ${hours.from} to ${hours.to} have no minute`);
}
