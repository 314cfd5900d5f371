import { SCOPES } from '../auth/scopes.ts';
import { PROBLEMS, type ProblemSlug } from '../kernel/problem.ts';
import type { Route } from '../kernel/route.ts';
import { COMMON_PROBLEMS } from './routes.ts';

/**
 * The OpenAPI 3.1 document, made from the very routes and schemas that validate: it cannot say anything else than
 * what the service does.
 */
type Json = Record<string, unknown>;
type JsonSchema = { readonly title?: string; readonly [key: string]: unknown };

/** Schemas with a title become components, named by it, and are referred to. */
function createComponents() {
  const schemas: Record<string, unknown> = {};
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, referTo(inner)]));
  };
  const referTo = (value: unknown): unknown => {
    const title = (value as JsonSchema | null)?.title;
    const isSchema =
      typeof value === 'object' && typeof title === 'string' && 'type' in (value as JsonSchema);
    if (!isSchema || Array.isArray(value)) return Array.isArray(value) ? value.map(referTo) : plain(value);
    schemas[title] ??= plain(value);
    return { $ref: `#/components/schemas/${title}` };
  };
  return { schemas, referTo };
}

const PROBLEM_SCHEMA = {
  title: 'Problem',
  type: 'object',
  description: 'What went wrong (RFC 9457). Each type has a page at its address.',
  required: ['type', 'title', 'status', 'detail', 'meta'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', format: 'uri', description: 'Address of a page about this problem' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'One sentence, with the numbers in it' },
    meta: { type: 'object', description: 'The same numbers, structured' },
  },
};

const REQUEST_ID_HEADER = {
  'X-Request-Id': { description: 'Yours, when you sent one; it is in our log', schema: { type: 'string' } },
};

function problemResponses(route: Route, publicUrl: string): Json {
  const slugs: ProblemSlug[] = [...new Set([...COMMON_PROBLEMS, ...route.problems])];
  if (route.body !== undefined) slugs.push('payload-too-large', 'unsupported-media-type');
  const byStatus = Map.groupBy(slugs, (slug) => PROBLEMS[slug].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((slug) => `\`${slug}\`: ${PROBLEMS[slug].title}`).join('. '),
        headers: REQUEST_ID_HEADER,
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(
              group.map((slug) => [
                slug,
                {
                  value: {
                    type: `${publicUrl}/problems/${slug}`,
                    title: PROBLEMS[slug].title,
                    status,
                    detail: PROBLEMS[slug].help.replaceAll('`', '').split('. ')[0],
                    meta: {},
                  },
                },
              ]),
            ),
          },
        },
      },
    ]),
  );
}

function parametersOf(route: Route, referTo: (schema: unknown) => unknown): Json[] {
  const from = (schema: unknown, place: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, { description?: string }>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description: property.description ?? name,
      schema: referTo(property),
    }));
  };
  return [...from(route.params, 'path'), ...from(route.query, 'query')];
}

function operationOf(route: Route, publicUrl: string, referTo: (schema: unknown) => unknown): Json {
  const parameters = parametersOf(route, referTo);
  const replayHeader =
    route.method === 'POST'
      ? {
          'Idempotent-Replayed': {
            description: '`true` when this is the record of an earlier, equal request',
            schema: { type: 'string', enum: ['true'] },
          },
        }
      : {};
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [
      route.description,
      `Scope: \`${route.scope}\`.`,
      route.sandboxOnly ? 'Only in the sandbox.' : undefined,
    ]
      .filter((part) => part !== undefined)
      .join(' '),
    security: [{ oauth2: [route.scope] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: referTo(route.body),
                ...(route.example === undefined ? {} : { example: route.example }),
              },
            },
          },
        }),
    responses: {
      '200': {
        description: 'Success',
        headers: { ...REQUEST_ID_HEADER, ...replayHeader },
        content: { [route.streams ?? 'application/json']: { schema: referTo(route.response) } },
      },
      ...problemResponses(route, publicUrl),
    },
  };
}

export function openApiDocument(
  routes: readonly Route[],
  publicUrl: string,
  version: string,
  extraPaths: Json = {},
): Json {
  const { schemas, referTo } = createComponents();
  referTo(PROBLEM_SCHEMA);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, publicUrl, referTo),
    };
  }
  const tags = [...new Set([...routes.map((route) => route.tag), 'Authentication'])];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ferry',
      version,
      description:
        'Moves value: between the profiles of its customers, out to bank accounts and blockchains, and between two parties who settle with each other. Amounts are decimal strings, times are RFC 3339, errors are RFC 9457 problems.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.map((name) => ({ name })),
    paths: { ...paths, ...(referTo(extraPaths) as Json) },
    components: {
      schemas,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: `${publicUrl}/oauth2/token`, scopes: SCOPES } },
        },
      },
    },
  };
}
