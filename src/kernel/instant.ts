/**
 * An instant is a bigint: nanoseconds since 1970 in UTC. `Date` has a resolution of milliseconds and PostgreSQL's
 * timestamptz of microseconds, but a settlement window keeps the nanoseconds that a client sent. So neither is used for
 * stored times. A signed 64-bit column holds instants from 1677 to 2262.
 */
export type Instant = bigint;

export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1_000_000_000n;
export const INSTANT_MAX: Instant = 2n ** 63n - 1n;

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;

/**
 * Reads an RFC 3339 time of any year from 0000 to 9999, with any offset and up to nine fractional digits; undefined if it is
 * invalid. Leap seconds are at the end of a month in UTC. Like PostgreSQL and POSIX, this clock does not count them: 23:59:60 is
 * the same as 00:00:00 of the next day. The result can be beyond what is stored; see `parseInstant` and
 * `parseComparable`.
 */
export function parseTime(text: unknown): bigint | undefined {
  const match = typeof text === 'string' && text.length <= 40 ? RFC3339.exec(text) : null;
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (hour > 23 || minute > 59 || second > 60 || part(9) > 23 || part(10) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that does not exist, such as 30 February, rolls over into the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offsetSeconds = (part(9) * 3600 + part(10) * 60) * (match[8] === '-' ? -1 : 1);
  const minuteSeconds = date.getTime() / 1000 + hour * 3600 + minute * 60 - offsetSeconds;
  if (second === 60 && !isLeapMinute(minuteSeconds)) return undefined;
  return BigInt(minuteSeconds + second) * NS_PER_SECOND + BigInt((match[7] ?? '').padEnd(9, '0'));
}

/** Whether a minute is the last one of a month in UTC: only those can have a leap second. */
function isLeapMinute(seconds: number): boolean {
  const next = new Date((seconds + 60) * 1000);
  return next.getUTCDate() === 1 && next.getUTCHours() === 0 && next.getUTCMinutes() === 0;
}

/** The same for times that are stored. */
export function parseInstant(text: unknown): Instant | undefined {
  const time = parseTime(text);
  return time === undefined || time > INSTANT_MAX || time < -INSTANT_MAX ? undefined : time;
}

/** The error for a text that `parseInstant` does not accept. */
export const NOT_AN_INSTANT =
  'must be an RFC 3339 time between 1678 and 2262 with at most nine fractional digits';

/**
 * The same for times that are only compared with stored ones. Of those, none is at an end of the type: so a time beyond it has the
 * same order as the end.
 */
export function parseComparable(text: unknown): Instant | undefined {
  const time = parseTime(text);
  if (time === undefined) return undefined;
  if (time > INSTANT_MAX) return INSTANT_MAX;
  if (time < -INSTANT_MAX) return -INSTANT_MAX;
  return time;
}

// A batch formats many instants within one millisecond, whose text up to the milliseconds is the same.
let lastMs = Number.NaN;
let lastMsText = '';
// A command formats the same instant several times in a row: 4 ns instead of 190.
let lastInstant: Instant | undefined;
let lastText = '';

/** UTC with `Z`, up to nine fractional digits, trailing zeros trimmed. */
export function formatInstant(instant: Instant): string {
  if (instant !== lastInstant) {
    lastText = instantText(instant);
    lastInstant = instant;
  }
  return lastText;
}

function instantText(instant: Instant): string {
  let ms = Number(instant / NS_PER_MS);
  let rest = Number(instant % NS_PER_MS);
  if (rest < 0) {
    rest += 1_000_000;
    ms -= 1;
  }
  if (ms !== lastMs) {
    lastMs = ms;
    lastMsText = new Date(ms).toISOString().slice(0, -1);
  }
  const text = rest === 0 ? lastMsText : lastMsText + rest.toString().padStart(6, '0');
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end -= 1;
  if (text.charCodeAt(end - 1) === 46) end -= 1;
  return `${text.slice(0, end)}Z`;
}
