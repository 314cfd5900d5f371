/** Times are shown in the zone of the reader; UTC is one hover away. */
const LOCAL = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const SHORT = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

export const READER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const localTime = (at: string): string => LOCAL.format(new Date(at));
export const shortTime = (at: string): string => SHORT.format(new Date(at));
export const localDay = (at: string | number): string => DAY.format(new Date(at));

/** With all the digits that the service has sent. */
export const utcTime = (at: string): string => `${at.replace('T', ' ').replace('Z', '')} UTC`;

const STEPS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const;

/** "3 min. ago", as seen at `nowMs`. */
export function relativeTime(at: string, nowMs: number): string {
  let amount = (Date.parse(at) - nowMs) / 1_000;
  for (const [unit, length] of STEPS) {
    if (Math.abs(amount) < length) return RELATIVE.format(Math.round(amount), unit);
    amount /= length;
  }
  return RELATIVE.format(Math.round(amount), 'year');
}

/** "2 h 05 min" */
export function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return ms < 10_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : `${seconds} s`;
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return hours < 48
    ? `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
    : `${Math.floor(hours / 24)} days`;
}

/** The value of an input of the type datetime-local, which is in the zone of the reader. */
export function toLocalInput(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
export const fromLocalInput = (value: string): string | undefined =>
  value === '' ? undefined : new Date(value).toISOString();
