import { ANSWERS, REQUESTS } from './examples.ts';
import { KEYS_SCHEMA, METADATA_SCHEMA, REVOCATION_SCHEMA, TOKEN_SCHEMA } from './token-schema.ts';

type RouteSchema = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly consumes?: readonly string[];
  readonly body?: object;
  readonly response: Readonly<Record<string, object>>;
};

/** A route for authentication as an OpenAPI operation. */
function operationOf(schema: RouteSchema): object {
  const { operationId, tags, summary, description, consumes, body, response } = schema;
  const responses = Object.entries(response).map(([status, answer]) => {
    const { description: meaning, ...shape } = answer as { description: string };
    const example = ANSWERS[operationId]?.[status];
    return [status, { description: meaning, content: { 'application/json': { schema: shape, example } } }];
  });
  return {
    operationId,
    tags,
    summary,
    ...(description === undefined ? {} : { description }),
    security: [],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              (consumes ?? []).map((type) => [type, { schema: body, example: REQUESTS[operationId] }]),
            ),
          },
        }),
    responses: Object.fromEntries(responses),
  };
}

export function authenticationPaths(): Record<string, unknown> {
  return {
    '/oauth2/token': { post: operationOf(TOKEN_SCHEMA) },
    '/oauth2/revoke': { post: operationOf(REVOCATION_SCHEMA) },
    '/.well-known/jwks.json': { get: operationOf(KEYS_SCHEMA) },
    '/.well-known/oauth-authorization-server': { get: operationOf(METADATA_SCHEMA) },
  };
}
