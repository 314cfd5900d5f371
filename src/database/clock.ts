/** An SQL expression: the database's clock, in nanoseconds since 1970 with a resolution of microseconds. */
export const CLOCK_NS = '(extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000';
