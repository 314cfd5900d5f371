import openapiTS, { astToString } from 'openapi-typescript';

/** Writes the generated parts of the client from the OpenAPI document of the service. */
type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly $ref?: string };
type Operation = {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: Schema }>> }>
  >;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const HEADER = '// Generated from the OpenAPI document by `npm run client:types`. Do not edit.\n';

/** Writes without one `ref_id` that have the same effect when they are executed twice. */
const REPEATABLE = new Set(['addAccountMembers', 'updateWebhook', 'createPlatformTransfers']);

function createReader(document: Document) {
  const resolve = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!];

  /** `ref_id`, or `account.ref_id`. */
  function refIdOf({ requestBody }: Operation): string | undefined {
    const properties = resolve(requestBody?.content['application/json']?.schema)?.properties ?? {};
    if (properties.ref_id !== undefined) return 'ref_id';
    const parent = Object.keys(properties).find((name) => resolve(properties[name])?.properties?.ref_id);
    return parent === undefined ? undefined : `${parent}.ref_id`;
  }

  function isList({ parameters = [], responses }: Operation): boolean {
    const page = resolve(responses['200']?.content?.['application/json']?.schema)?.properties;
    return page?.items !== undefined && parameters.some(({ name }) => name === 'page_cursor');
  }

  return {
    kindOf(method: string, operation: Operation): string {
      if (method === 'get') return isList(operation) ? 'list' : 'read';
      return refIdOf(operation) ?? (REPEATABLE.has(operation.operationId) ? 'repeatable' : 'once');
    },
    /** The client passes parameters and body in one object, so that no name may have two meanings. */
    check(method: string, operation: Operation): void {
      const { operationId, parameters = [], requestBody } = operation;
      const body = Object.keys(resolve(requestBody?.content['application/json']?.schema)?.properties ?? {});
      for (const { name, in: place } of parameters) {
        if (place === 'query' && method !== 'get') throw new Error(`${operationId}: ${name} is in the query`);
        if (body.includes(name))
          throw new Error(`${operationId}: ${name} is in the body and in the ${place}`);
      }
    },
  };
}

/** The operations that an access token permits: method, path, and how a call may be repeated. */
export function operationTable(document: Document): string {
  const reader = createReader(document);
  const lines = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security?.some((scheme) => 'oauth2' in scheme) === true)
      .map(([method, operation]) => {
        reader.check(method, operation);
        const entry = [method.toUpperCase(), path, reader.kindOf(method, operation)];
        return `  ${operation.operationId}: ['${entry.join("', '")}'],\n`;
      }),
  );
  return `${HEADER}
/**
 * Method, path, and the kind: a \`list\` or another \`read\`; the path of the idempotency key in the body; \`repeatable\`, which has the
 * same effect when it is executed twice; or \`once\`, which is sent again only if it was certainly not executed.
 */
export const OPERATIONS = {
${lines.join('')}} as const;
`;
}

/** Only successes: problems are classes of the client, and headers are not passed on. */
function successes(paths: Document['paths']): unknown {
  const entries = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => {
      const { 200: { headers: _, ...success } = {} } = operation.responses as Record<
        string,
        Record<string, unknown>
      >;
      return [method, { ...operation, responses: { 200: { description: '', ...success } } }];
    });
    return [path, Object.fromEntries(operations)];
  });
  return Object.fromEntries(entries);
}

/** The types of every request and answer. */
export async function schemaTypes({ paths, components: { schemas } }: Document): Promise<string> {
  const document = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: successes(paths),
    components: { schemas },
  };
  return HEADER + astToString(await openapiTS(document as never, { alphabetize: true }));
}
