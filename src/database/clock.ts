/** The database's clock, on which all nodes agree: nanoseconds since 1970, microseconds exact. */
export const CLOCK_NS = '(extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000';
