import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createRequestTimes } from './request-times.ts';

it('request times are formatted exactly as by the library', async () => {
  const own = new Registry();
  const times = createRequestTimes(own);
  const library = new Registry();
  const histogram = new Histogram({
    name: 'ferry_http_request_seconds',
    help: 'Duration of requests, by route, method and status',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [library],
  });
  expect(await own.metrics()).toBe(await library.metrics());
  const requests = [
    ['/v2/profiles', 'GET', 200],
    ['/v2/profiles', 'POST', 200],
    ['/v2/profiles', 'GET', 404],
    ['/v2/profiles/:id', 'GET', 200],
  ] as const;
  for (const [route, method, status] of requests) {
    // Bounds belong to the bucket that they end.
    for (const seconds of [0, 0.001, 0.001_000_1, 0.3, 5, 5.1, 60]) {
      times.add(route, method, status, seconds);
      histogram.observe({ route, method, status }, seconds);
    }
  }
  expect(await own.metrics()).toBe(await library.metrics());
});
