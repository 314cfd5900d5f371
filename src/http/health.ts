import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/** However many ask at the same time, the work is done once, and its result is used for `keptMs`. */
function shared<Result>(work: () => Promise<Result>, keptMs: number): () => Promise<Result> {
  let last: Promise<Result> | undefined;
  let endedMs: number | undefined;
  return () => {
    const isStale = endedMs !== undefined && performance.now() - endedMs >= keptMs;
    if (last === undefined || isStale) {
      endedMs = undefined;
      last = work().finally(() => {
        endedMs = performance.now();
      });
    }
    return last;
  };
}

/** For operators: liveness, readiness and metrics. */
export function healthExtension(options: {
  /** Connections that nothing else uses. */
  readonly database: Pick<Database, 'query' | 'refusal'>;
  readonly registry: Registry;
  isReady(): boolean;
}): (app: FastifyInstance) => void {
  return (app) => {
    const ask = shared(() => options.database.query('select 1'), 0);
    const metrics = shared(() => options.registry.metrics(), LIMITS.metricsMs);
    // Checks only the process itself: a restart would not solve any other problem.
    app.get('/health/live', async () => ({ status: 'live' }));
    app.get('/health/ready', async () => {
      if (!options.isReady()) throw unavailable('The service is starting or stopping.');
      const refusal = options.database.refusal();
      if (refusal !== undefined) throw unavailable(refusal);
      await ask();
      return { status: 'ready' };
    });
    app.get('/metrics', async (_request, reply) => {
      reply.type(options.registry.contentType);
      return metrics();
    });
  };
}
