import { CLOCK_NS } from './clock.ts';
import type { Queryable } from './database.ts';

/** Something that waits, for whoever watches the service. The database says so: it is the same on every node. */
export type Backlog = {
  /** What is told of it, by the name of the metric, with what that means. */
  readonly gauges: Readonly<Record<string, string>>;
  /** The column that tells the rows apart, where there may be several. */
  readonly label?: string;
  /** A column for each gauge. Reads little, however much waits. */
  read(database: Queryable): Promise<readonly Readonly<Record<string, unknown>>[]>;
};

/** An SQL expression: seconds since an instant, 0 if that is still to come or null. */
export function secondsSince(instantNs: string): string {
  return `(greatest(${CLOCK_NS} - (${instantNs}), 0) / 1e9)::float8`;
}

/** An SQL expression: how many rows there are, counted up to a bound. */
export function countUpTo(max: number, rows: string): string {
  return `(select count(*)::integer from (select ${rows} limit ${max}) as counted)`;
}
