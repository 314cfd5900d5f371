import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Capability } from '../kernel/capability.ts';
import type { SignedRoute } from '../kernel/signed-route.ts';
import { readBody } from './json.ts';

type Done = (error: Error | null, body?: unknown) => void;

/** In a scope of its own, because the signature is of the bytes of the body, which other routes never see. */
async function register(
  app: FastifyInstance,
  { path, body, response, verify, handle }: SignedRoute,
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      (request: FastifyRequest, bytes: Buffer, done: Done) => {
        const header = (name: string): string | undefined => {
          const value = request.headers[name];
          return typeof value === 'string' ? value : undefined;
        };
        verify(header, bytes);
        done(null, readBody(bytes));
      },
    );
    scope.post(path, {
      schema: {
        body,
        querystring: { type: 'object', additionalProperties: false },
        response: { 200: response },
      },
      async handler(request, reply) {
        reply.header('cache-control', 'no-store');
        return handle(request.body as never);
      },
    });
  });
}

export const signedExtension =
  (capabilities: readonly Capability[]): ((app: FastifyInstance) => Promise<void>) =>
  async (app) => {
    for (const { signedRoutes = [] } of capabilities)
      for (const route of signedRoutes) await register(app, route);
  };
