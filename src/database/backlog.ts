import { CLOCK_NS } from './clock.ts';

/** An SQL expression: seconds since an instant; 0 if the instant is in the future or null. */
export function secondsSince(instantNs: string): string {
  return `(greatest(${CLOCK_NS} - (${instantNs}), 0) / 1e9)::float8`;
}

/** An SQL expression: the number of rows, counted up to a maximum. */
export function countUpTo(max: number, rows: string): string {
  return `(select count(*)::integer from (select ${rows} limit ${max}) as counted)`;
}
