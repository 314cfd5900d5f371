import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { unavailable } from '../kernel/problem.ts';

/** For operators: is the process alive, can it work, how does it fare. */
export function operationsExtension(options: {
  readonly database: Database;
  readonly registry: Registry;
  isReady(): boolean;
}): (app: FastifyInstance) => void {
  return (app) => {
    // The process answers; nothing else is looked at, so that a restart is never asked for in vain.
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
