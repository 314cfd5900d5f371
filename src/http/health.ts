import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { unavailable } from '../kernel/problem.ts';

/** For operators: liveness, readiness and metrics. */
export function healthExtension(options: {
  readonly database: Database;
  readonly registry: Registry;
  isReady(): boolean;
}): (app: FastifyInstance) => void {
  return (app) => {
    // Checks only the process itself: a restart would not solve any other problem.
    app.get('/health/live', async () => ({ status: 'live' }));
    app.get('/health/ready', async () => {
      if (!options.isReady()) throw unavailable('The service is starting or stopping.');
      const refusal = options.database.refusal();
      if (refusal !== undefined) throw unavailable(refusal);
      await options.database.query('select 1');
      return { status: 'ready' };
    });
    app.get('/metrics', async (_request, reply) => {
      reply.type(options.registry.contentType);
      return options.registry.metrics();
    });
  };
}
