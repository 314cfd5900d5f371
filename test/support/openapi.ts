import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Belongings } from './belongings.ts';
import type { TestService } from './service.ts';

export { type Belongings, createBelongings } from './belongings.ts';

/** The published document, and requests that are made from it alone. */
export type Operation = {
  /** `POST /v2/things/{id}`, as titles of tests show it. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly id: string;
  /** Empty for public operations. */
  readonly scopes: readonly string[];
  readonly parameters: readonly { name: string; in: 'path' | 'query'; required: boolean; schema: any }[];
  /** References are followed. */
  readonly body: { readonly schema: any; readonly example: any; readonly mediaType: string } | undefined;
  readonly responses: Readonly<Record<string, any>>;
};

type Received = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: any;
};

export type Description = {
  readonly document: any;
  readonly operations: readonly Operation[];
  operation(id: string): Operation;
  /** Follows references, all the way down. */
  resolve(schema: any): any;
  /** The schema errors of a request body. */
  bodyFaults(operation: Operation, body: unknown): string[];
  /** What of an answer does not match the document, as sentences. */
  faults(method: string, pathname: string, received: Received): string[];
  /** The same of the body of a problem, whichever operation it is the answer of. */
  problemFaults(body: any, status: number): string[];
  /** Throws when an answer does not match the document. */
  check(method: string, path: string, received: Received): void;
};

/** Answered to requests that are not one of an operation. */
const ODD_TYPES =
  /\/problems\/(not-found|method-not-allowed|unsupported-media-type|headers-too-large|request-timeout)$/;

/** Pages for readers and operators of the service; they are not operations. */
export const OUTSIDE = /^\/$|^\/(health|metrics|docs|problems|signin|console|openapi\.json)(\/|$)/;

const isHeaderThere = (headers: Received['headers'], name: string): boolean =>
  (headers.get(name) ?? '') !== '';

function describeError({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: readonly string[];
  };
  const more = additionalProperty ?? allowedValues?.join(', ');
  return `${instancePath || 'the body'} ${message}${more === undefined ? '' : `: ${more}`}`;
}

/** Answers may get further fields in later releases, but in this one they have exactly those of the document. */
function closed(schema: any): any {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, closed(one)]));
  const isOpen = schema.type === 'object' && schema.properties !== undefined;
  return isOpen ? { additionalProperties: false, ...inner } : inner;
}

// Strict: a keyword that Ajv does not know, or that cannot apply, is a mistake in the document.
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats.default(ajv);

/** By the text of the schema: the services of many test files, which run in one process, have the same ones. */
const compiled = new Map<string, ValidateFunction>();

function compile(schema: any): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return validate;
}

export function readDescription(document: any): Description {
  const resolve = (schema: any): any => {
    if (Array.isArray(schema)) return schema.map(resolve);
    if (schema === null || typeof schema !== 'object') return schema;
    if (typeof schema.$ref === 'string') {
      const parts = schema.$ref.slice(2).split('/');
      return resolve(parts.reduce((at: any, part: string) => at[part], document));
    }
    return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, resolve(inner)]));
  };

  // Compiled when first used: a file of tests needs only a few of them.
  const validators = new Map<unknown, ValidateFunction>();
  const faultsOf = (schema: any, value: unknown): string[] => {
    const key = schema.$ref ?? schema;
    const validate = validators.get(key) ?? compile(closed(resolve(schema)));
    validators.set(key, validate);
    return validate(value) ? [] : validate.errors!.map(describeError);
  };

  const operations = Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]): Operation => {
      const [mediaType, content] = Object.entries<any>(operation.requestBody?.content ?? {})[0] ?? [];
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        id: operation.operationId,
        scopes: operation.security.flatMap((one: Record<string, string[]>) => Object.values(one).flat()),
        parameters: (operation.parameters ?? []).map(resolve),
        body:
          mediaType === undefined
            ? undefined
            : { schema: resolve(content.schema), example: content.example, mediaType },
        // Problems that several operations share are references.
        responses: Object.fromEntries(
          Object.entries<any>(operation.responses).map(([status, one]) => [
            status,
            one.$ref === undefined ? one : document.components.responses[one.$ref.split('/').at(-1)],
          ]),
        ),
      };
    }),
  );

  // A path without parameters is a better match than one with.
  const templates = Object.keys(document.paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`) }))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length);

  function faults(method: string, pathname: string, received: Received): string[] {
    const { status, headers, body } = received;
    const path = templates.find(({ pattern }) => pattern.test(pathname))?.path;
    const verb = method === 'HEAD' ? 'GET' : method;
    const operation = operations.find((one) => one.path === path && one.method === verb);
    if (operation === undefined) {
      const expected = path === undefined ? 404 : 405;
      if (status !== expected) return [`the document has no such ${path === undefined ? 'path' : 'method'}`];
      return faultsOf({ $ref: '#/components/schemas/Problem' }, body);
    }
    const response = operation.responses[status];
    if (response === undefined) {
      return [`${operation.id} has no such status, only ${Object.keys(operation.responses).join(', ')}`];
    }
    const missing = Object.entries<any>(response.headers ?? {})
      .filter(([name, header]) => header.required === true && !isHeaderThere(headers, name))
      .map(([name]) => `the header ${name} is missing`);
    if (
      isHeaderThere(headers, 'idempotent-replayed') &&
      !('Idempotent-Replayed' in (response.headers ?? {}))
    ) {
      missing.push('the header Idempotent-Replayed is not in the document');
    }
    const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
    const content = response.content[type];
    if (content === undefined) {
      return [...missing, `its type is ${type}, and not ${Object.keys(response.content).join(', ')}`];
    }
    if (method === 'HEAD') return missing;
    return [...missing, ...faultsOf(content.schema, body), ...slugFaults(content, body, status)];
  }

  /** Each status lists the problems that it can be. */
  function slugFaults(content: any, body: any, status: number): string[] {
    if (content.examples === undefined) return [];
    if (body?.status !== status) return [`its status is ${body?.status}, and not ${status}`];
    const types = Object.values<any>(content.examples).map((example) => example.value.type);
    return types.includes(body?.type) ? [] : [`its type is ${body?.type}, and not ${types.join(', ')}`];
  }

  const problemTypes = new Set(
    operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) =>
        Object.values<any>(content?.['application/problem+json']?.examples ?? {}).map(
          (one) => one.value.type,
        ),
      ),
    ),
  );

  return {
    document,
    operations,
    faults,
    problemFaults(body, status) {
      const shape = faultsOf({ $ref: '#/components/schemas/Problem' }, body);
      if (shape.length > 0) return shape;
      if (body.status !== status) return [`its status is ${body.status}, and not ${status}`];
      return problemTypes.has(body.type) || ODD_TYPES.test(body.type)
        ? []
        : [`its type ${body.type} is not in the document`];
    },
    operation: (id) => operations.find((one) => one.id === id)!,
    resolve,
    bodyFaults: (operation, body) => faultsOf(operation.body!.schema, body),
    check(method, path, received) {
      const pathname = path.split('?', 1)[0]!;
      if (OUTSIDE.test(pathname)) return;
      const found = faults(method, pathname, received);
      if (found.length === 0) return;
      const body = JSON.stringify(received.body)?.slice(0, 2_000);
      throw new Error(
        `${method} ${pathname} answered ${received.status}, which is not what /openapi.json says: ${found.join('; ')}\n${body}`,
      );
    },
  };
}

type FieldPath = readonly (string | number)[];

/** Every property below a schema, with its path in a value; of a list, those of its first item. */
export function propertiesOf(schema: any, at: FieldPath = []): { path: FieldPath; schema: any }[] {
  const inner = Object.entries<any>(schema?.properties ?? {}).map(
    ([name, one]) => [[...at, name], one] as const,
  );
  const items = schema?.items === undefined ? [] : [[[...at, 0], schema.items] as const];
  return [
    ...inner.map(([path, one]) => ({ path, schema: one })),
    ...[...inner, ...items].flatMap(([path, one]) => propertiesOf(one, path)),
  ];
}

export const isIdSchema = (schema: any): boolean => schema?.format === 'uuid';

/** A copy of the value with that field set. */
export function withField(value: any, path: FieldPath, to: unknown): any {
  const copy = structuredClone(value);
  const holder = path.slice(0, -1).reduce((inner, part) => inner?.[part], copy);
  if (holder === undefined) throw new Error(`the example has nothing at /${path.slice(0, -1).join('/')}`);
  holder[path.at(-1)!] = to;
  return copy;
}

/** The path in each item of a list, instead of in its first one. */
function placesOf(value: any, path: FieldPath): FieldPath[] {
  const at = path.indexOf(0);
  if (at < 0) return [path];
  const list: unknown[] = path.slice(0, at).reduce((inner, part) => inner?.[part], value) ?? [];
  return list.length === 0
    ? [path]
    : list.map((_, index) => [...path.slice(0, at), index, ...path.slice(at + 1)]);
}

/** The example of an operation with the customer's ids: in the fields that it shows, or in all possible fields. */
export function exampleFor(operation: Operation, { fields }: Belongings, which: 'shown' | 'every'): any {
  const { schema, example } = operation.body!;
  return propertiesOf(schema)
    .filter((one) => isIdSchema(one.schema))
    .reduce((body, { path }) => {
      const isShown = path.reduce((inner: any, part) => inner?.[part], body) !== undefined;
      if (!isShown && which === 'shown') return body;
      const id = fields[path.at(-1)!];
      if (id === undefined)
        throw new Error(`no belonging for the field /${path.join('/')} of ${operation.id}`);
      return placesOf(body, path).reduce((changed, place) => withField(changed, place, id), body);
    }, structuredClone(example));
}

/** The request with the digest of a view of the resource, where the operation requires one. */
export async function withDigest(
  operation: Operation,
  { customer }: Pick<Belongings, 'customer'>,
  path: string,
  body: any,
): Promise<any> {
  if (operation.body?.schema.properties?.digest === undefined) return body;
  const view = await customer.call('GET', path.slice(0, path.lastIndexOf('/')));
  return { ...body, digest: view.body.digest };
}

const VALUES: Readonly<Record<string, string>> = {
  asset: 'USD',
  account: 'clearing:wire',
  from: '2020-01-01T00:00:00Z',
  profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
  reason: 'New credentials were issued: CASE-2207.',
  text: 'payout-3311',
};

/** The path of the operation with ids of new records, and with the query parameters that it needs. */
export async function pathFor(operation: Operation, { make }: Belongings): Promise<string> {
  let { path } = operation;
  for (const { name, schema } of operation.parameters.filter((one) => one.in === 'path')) {
    const [, kind = ''] = new RegExp(`/([^/{}]+)/\\{${name}\\}`).exec(operation.path) ?? [];
    const isMade = isIdSchema(schema) || name === 'client_id' || name === 'credential_id';
    const value = isMade ? await (make[operation.id] ?? make[kind])?.() : VALUES[name];
    if (value === undefined) throw new Error(`no belonging for {${name}} of ${operation.name}`);
    path = path.replace(`{${name}}`, value);
  }
  const needed = operation.parameters.filter((one) => one.in === 'query' && one.required);
  const query = new URLSearchParams(Object.fromEntries(needed.map(({ name }) => [name, VALUES[name]!])));
  return needed.length === 0 ? path : `${path}?${query.toString()}`;
}

export type ValidRequest = [method: string, path: string, body?: unknown];

/** A request that would succeed if it came from the owner of the belongings. */
export async function validRequest(operation: Operation, belongings: Belongings): Promise<ValidRequest> {
  const path = await pathFor(operation, belongings);
  if (operation.body === undefined) return [operation.method, path];
  return [operation.method, path, exampleFor(operation, belongings, 'shown')];
}

/** Methods by path in OpenAPI's form, as the router has them. */
export function registeredRoutes({ app }: Pick<TestService, 'app'>): { method: string; path: string }[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent, part, methods] = /^([│ ]*)[├└]── (\S+) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      if (part === undefined) {
        if (line.trim() !== '') throw new Error(`the router prints a line that is not a route: ${line}`);
        return [];
      }
      const depth = indent!.length / 4;
      parents.splice(depth, Infinity, part);
      const path = parents.join('').replaceAll(/:([^/]+)/g, '{$1}');
      return methods!.split(', ').map((method) => ({ method, path }));
    });
}
