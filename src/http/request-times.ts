import type { Registry } from 'prom-client';

/** Durations of requests: a Prometheus histogram with a series for each route, method and status. */
export type RequestTimes = {
  add(route: string, method: string, status: number, seconds: number): void;
};

const NAME = 'ferry_http_request_seconds';
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

type Series = {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  /** Counts between each bound and the one before it, and above the last. */
  readonly counts: number[];
  sum: number;
};

function valuesOf({ labels, counts, sum }: Series) {
  let count = 0;
  const buckets = counts.map((one, index) => {
    count += one;
    return { metricName: `${NAME}_bucket`, labels: { le: BOUNDS[index] ?? '+Inf', ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count },
  ];
}

/**
 * Counted here, and converted when metrics are requested: the library's own histogram builds a key of the labels for
 * each observation, which takes 1 µs instead of 0.04.
 */
export function createRequestTimes(registry: Registry): RequestTimes {
  const byRoute = new Map<string, Map<string, Map<number, Series>>>();
  const all: Series[] = [];

  function newSeries(route: string, method: string, status: number): Series {
    const series = { labels: { route, method, status }, counts: [...BOUNDS, 0].fill(0), sum: 0 };
    all.push(series);
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Series>>();
    byRoute.set(route, byMethod);
    const byStatus = byMethod.get(method) ?? new Map<number, Series>();
    byMethod.set(method, byStatus);
    byStatus.set(status, series);
    return series;
  }

  const shown = {
    name: NAME,
    help: 'Duration of requests, by route, method and status',
    type: 'histogram',
    aggregator: 'sum',
  };
  const metric = { ...shown, get: async () => ({ ...shown, values: all.flatMap(valuesOf) }) };
  registry.registerMetric(metric as never);

  return {
    add(route, method, status, seconds) {
      const series = byRoute.get(route)?.get(method)?.get(status) ?? newSeries(route, method, status);
      let index = 0;
      while (index < BOUNDS.length && seconds > BOUNDS[index]!) index += 1;
      series.counts[index]! += 1;
      series.sum += seconds;
    },
  };
}
