import type { Capability } from '../kernel/capability.ts';
import { PROBLEMS } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';
import { ProblemShape } from '../kernel/shapes.ts';
import { type Components, createComponents, type JsonSchema } from './openapi-components.ts';
import { addLinks } from './openapi-links.ts';
import { eventDocumentOf } from './openapi-webhooks.ts';
import { problemExample } from './problem-examples.ts';
import { problemBody } from './problems.ts';
import { COMMON_PROBLEMS } from './routes.ts';

/**
 * The OpenAPI 3.1 document, generated from the routes and from the schemas that validate requests, so that it always matches
 * the service.
 */
type Json = Record<string, unknown>;

export type DocumentOptions = {
  readonly capabilities: readonly Capability[];
  /** Paths outside the operations, such as the token endpoint, in OpenAPI's form. */
  readonly extraPaths: Readonly<Record<string, unknown>>;
  /** Every scope, with its description. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly version: string;
  /** The name of the cookie that carries the session of a person. */
  readonly sessionCookie: () => string;
};

const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description:
      'The id that you sent, or a new one. The log contains it for every 500, and for every token request with wrong credentials.',
    required: true,
    schema: { type: 'string' },
  },
};

const RETRY_AFTER_HEADER = {
  'Retry-After': { description: 'Seconds to wait', required: true, schema: { type: 'integer', minimum: 1 } },
};

const RATE_HEADERS = {
  'RateLimit-Policy': {
    description: 'The budgets of the client and its customer: q points per w seconds',
    schema: { type: 'string' },
    example: '"client";q=2000;w=2, "customer";q=4000;w=2',
  },
  RateLimit: {
    description: 'What is left of them: r points; t seconds until they are full again',
    schema: { type: 'string' },
    example: '"client";r=1999;t=1, "customer";r=3998;t=1',
  },
};

/** Headers of the problems of a status. */
const PROBLEM_HEADERS: Readonly<Record<number, Json>> = {
  401: {
    'WWW-Authenticate': { description: 'As in RFC 6750', required: true, schema: { type: 'string' } },
  },
  403: {
    'WWW-Authenticate': {
      description: 'The missing scope, as in RFC 6750',
      schema: { type: 'string' },
    },
  },
  429: RETRY_AFTER_HEADER,
  503: RETRY_AFTER_HEADER,
};

function problemResponses(
  route: Route,
  examples: ProblemExamples,
  publicUrl: string,
  { share }: Components,
): Json {
  const slugs = [...new Set([...COMMON_PROBLEMS, ...route.problems])].filter(
    (slug) => slug !== 'insufficient-scope' || route.scope !== null,
  );
  if (route.stepUpMs !== undefined) slugs.push('step-up-required');
  // A client can send a body even where none is expected.
  if (route.method !== 'GET') slugs.push('payload-too-large', 'unsupported-media-type');
  // Lists of ids can make a path that is too long.
  if (route.query !== undefined) slugs.push('headers-too-large');
  const byStatus = Map.groupBy(slugs, (slug) => PROBLEMS[slug].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      share(group, {
        description: group.map((slug) => `\`${slug}\`: ${PROBLEMS[slug].title}`).join('. '),
        headers: { ...REQUEST_ID_HEADER, ...PROBLEM_HEADERS[status] },
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(
              group.map((slug) => [
                slug,
                { value: problemBody(problemExample(route, slug, examples), publicUrl) },
              ]),
            ),
          },
        },
      }),
    ]),
  );
}

function parametersOf(route: Route, { inRequest }: Components): Json[] {
  const from = (schema: unknown, place: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, { description?: string; type?: string }>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description: property.description ?? name,
      // The parameter is repeated, never split at commas.
      ...(property.type === 'array' ? { style: 'form', explode: true } : {}),
      schema: inRequest(property),
    }));
  };
  return [...from(route.params, 'path'), ...from(route.query, 'query')];
}

/** An optional body is validated as null; OpenAPI has `required: false` for it. */
function requestBodyOf(route: Route, { inRequest }: Components): Json {
  const { type, ...rest } = route.body as JsonSchema;
  const isOptional = Array.isArray(type) && type.includes('null');
  return {
    required: !isOptional,
    content: {
      'application/json': {
        schema: inRequest(isOptional ? { type: 'object', ...rest } : route.body),
        ...(route.example === undefined ? {} : { example: route.example }),
      },
    },
  };
}

const TEXT_SCHEMA = { type: 'string' };

/** JSON has the schema; streams of events, tables and XML are texts, whose form their standards describe. */
function contentOf(route: Route, { inAnswer }: Components): Json {
  const { answer } = route;
  const formOf = (type: string): Json => {
    if (type === 'application/json')
      return { schema: inAnswer(route.response), ...(answer === undefined ? {} : { example: answer }) };
    const isOfEvents = type === 'text/event-stream' && answer !== undefined;
    return { schema: TEXT_SCHEMA, ...(isOfEvents ? { example: `data: ${JSON.stringify(answer)}\n\n` } : {}) };
  };
  return Object.fromEntries((route.streams ?? ['application/json']).map((type) => [type, formOf(type)]));
}

/** An action that waits for others. */
function proposedResponse({ privileged }: Route, headers: Json, { inAnswer }: Components): Json {
  if (privileged?.proposed === undefined) return {};
  const { shape, example } = privileged.proposed;
  return {
    '202': {
      description: 'Nothing was executed yet: others have to approve it',
      headers,
      content: { 'application/json': { schema: inAnswer(shape), example } },
    },
  };
}

function operationOf(
  route: Route,
  examples: ProblemExamples,
  publicUrl: string,
  components: Components,
  callback: unknown,
): Json {
  const parameters = parametersOf(route, components);
  const replayHeader =
    route.method === 'POST'
      ? {
          'Idempotent-Replayed': {
            description: '`true` if this is the record of an earlier, equal request',
            schema: { type: 'string', enum: ['true'] },
          },
        }
      : {};
  const scopes = [route.scope, route.alsoScope].filter((scope) => typeof scope === 'string');
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [
      route.description,
      scopes.length === 0
        ? 'For every caller.'
        : `Scope: ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`,
      route.stepUpMs === undefined
        ? undefined
        : `A person must have signed in, or stepped up, within the last ${route.stepUpMs / 60_000} minutes.`,
      route.sandboxOnly ? 'Only in the sandbox.' : undefined,
    ]
      .filter((part) => part !== undefined)
      .join(' '),
    security: [{ oauth2: scopes }, { session: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route, components) }),
    responses: {
      '200': {
        description: 'Success',
        headers: { ...REQUEST_ID_HEADER, ...RATE_HEADERS, ...replayHeader },
        content: contentOf(route, components),
      },
      ...proposedResponse(route, { ...REQUEST_ID_HEADER, ...RATE_HEADERS, ...replayHeader }, components),
      ...problemResponses(route, examples, publicUrl, components),
    },
    ...(route.eventsTo === undefined ? {} : { callbacks: { event: { [route.eventsTo]: callback } } }),
  };
}

/** The tags of all operations, in the order of the operations, followed by tags of other paths. */
function tagsOf(capabilities: readonly Capability[]): Json[] {
  const descriptions: Record<string, string> = Object.assign({}, ...capabilities.map(({ tags }) => tags));
  const used = capabilities.flatMap(({ routes = [] }) => routes.map(({ tag }) => tag));
  const withoutOperations = capabilities.flatMap(({ routes, tags = {} }) =>
    routes === undefined ? Object.keys(tags) : [],
  );
  return [...new Set([...used, ...withoutOperations])].map((name) => {
    if (descriptions[name] === undefined) throw new Error(`no capability describes the tag ${name}`);
    return { name, description: descriptions[name] };
  });
}

export function openApiDocument(options: DocumentOptions, publicUrl: string): Json {
  const { capabilities, extraPaths, scopes, version, sessionCookie } = options;
  const components = createComponents();
  components.inAnswer(ProblemShape);
  const { callback, webhooks, pathItems, schemas: ofEvents } = eventDocumentOf(capabilities);
  const paths: Record<string, Json> = {};
  for (const { routes = [], problemExamples = {} } of capabilities) {
    for (const route of routes) {
      paths[route.path] = {
        ...paths[route.path],
        [route.method.toLowerCase()]: operationOf(route, problemExamples, publicUrl, components, callback),
      };
    }
  }
  addLinks(paths, components.schemas);
  const others = components.inAnswer(extraPaths) as Json;
  const { responses } = components;
  const schemas = { ...components.schemas, ...ofEvents };
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
    tags: tagsOf(capabilities),
    paths: { ...paths, ...others },
    webhooks,
    components: {
      schemas,
      responses,
      pathItems,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: {
            clientCredentials: {
              tokenUrl: `${publicUrl}/oauth2/token`,
              scopes,
              // For the page at /docs: with wrong credentials in a header, the browser would show its own dialog first.
              'x-scalar-credentials-location': 'body',
            },
          },
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie(),
          description:
            'The session of a person, who signs in at /signin. The roles of the person are its scopes.',
        },
      },
    },
  };
}
