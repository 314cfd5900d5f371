import type { Capability } from '../kernel/capability.ts';

/** The name of the schema of events about a resource. */
const schemaName = (resource: string | undefined): string =>
  resource === undefined ? 'Event' : `${resource}Event`;

/** Every event as a request that the service sends to the endpoints of its customers. Adds the schemas of events to `schemas`. */
export function webhooksOf(
  capabilities: readonly Capability[],
  schemas: Record<string, unknown>,
): Record<string, unknown> {
  const families = capabilities.flatMap(({ eventTypes = [] }) => eventTypes);
  for (const { resource } of families) {
    if (resource !== undefined) schemas[schemaName(resource)] = schemaOf(resource);
  }
  return Object.fromEntries(
    families.flatMap(({ types, resource }) =>
      Object.values(types).map((type) => [type, { post: operationOf(type, resource) }] as const),
    ),
  );
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** A component, because generators do not find types for schemas that stand in the webhook itself. */
const schemaOf = (resource: string) => ({
  title: schemaName(resource),
  description: `An event whose \`data\` is of the type ${resource}`,
  allOf: [
    { $ref: '#/components/schemas/Event' },
    { type: 'object', properties: { data: { $ref: `#/components/schemas/${resource}` } } },
  ],
});

/** Without a tag: generators would write what is received and what is sent under the same tag into the same file. */
function operationOf(type: string, resource: string | undefined): Record<string, unknown> {
  return {
    operationId: `on_${type.replaceAll('.', '_')}`.replaceAll(/_+([a-z0-9])/g, (_, letter: string) =>
      letter.toUpperCase(),
    ),
    summary: `The event ${type}`,
    security: [],
    parameters: [
      header('webhook-id', 'The id of the event, the same in every attempt'),
      header('webhook-timestamp', 'Seconds since 1970 at which the attempt was made'),
      header('webhook-signature', 'Signatures of Standard Webhooks, separated by spaces'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: { $ref: `#/components/schemas/${schemaName(resource)}` } },
      },
    },
    responses: {
      '2XX': { description: 'Received; answer within 10 seconds' },
      '4XX': { description: 'Not received; the service sends it again' },
    },
  };
}
