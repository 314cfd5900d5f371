import { CLOCK_NS } from './clock.ts';

/** An SQL expression: seconds since an instant, 0 if that is still to come or null. */
export function secondsSince(instantNs: string): string {
  return `(greatest(${CLOCK_NS} - (${instantNs}), 0) / 1e9)::float8`;
}

/** An SQL expression: how many rows there are, counted up to a bound. */
export function countUpTo(max: number, rows: string): string {
  return `(select count(*)::integer from (select ${rows} limit ${max}) as counted)`;
}
