import { type Instant, NS_PER_MS } from '../kernel/instant.ts';

/** When the bank works: its time zone, the time of the day until which it executes payments on the same day, its holidays. */
export type Calendar = {
  readonly timeZone: string;
  /** HH:MM. */
  readonly cutOff: string;
  /** YYYY-MM-DD. */
  readonly holidays: ReadonlySet<string>;
  /** The network works on weekends, too. */
  readonly isEveryDay?: boolean;
};

export type LocalTime = { readonly date: string; readonly time: string };

const formats = new Map<string, Intl.DateTimeFormat>();

/** Date and time of the day at the bank. */
export function localTime(at: Instant, timeZone: string): LocalTime {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    formats.set(timeZone, format);
  }
  const [date, time] = format.format(new Date(Number(at / NS_PER_MS))).split(' ');
  return { date: date!, time: time!.slice(0, 5) };
}

export function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('sv-SE', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** An existing day, as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return day !== undefined && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function nextDay(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}

export function isBusinessDay(date: string, { holidays, isEveryDay }: Calendar): boolean {
  if (isEveryDay === true) return !holidays.has(date);
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.has(date);
}

/** The day on which the bank executes a file that it gets now. */
export function executionDate(now: Instant, calendar: Calendar): string {
  const { date, time } = localTime(now, calendar.timeZone);
  let day = time < calendar.cutOff ? date : nextDay(date);
  while (!isBusinessDay(day, calendar)) day = nextDay(day);
  return day;
}

/** Whether the cut-off of a business day is less than that away: what waits is sent now, or executed a day later. */
export function isBeforeCutOff(now: Instant, calendar: Calendar, aheadMs: number): boolean {
  return executionDate(now, calendar) !== executionDate(now + BigInt(aheadMs) * NS_PER_MS, calendar);
}
