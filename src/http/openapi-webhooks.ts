import type { Capability } from '../kernel/capability.ts';

/** Every event as a request that the service sends to the endpoints of its customers. */
export function webhooksOf(capabilities: readonly Capability[]): Record<string, unknown> {
  const families = capabilities.flatMap(({ eventTypes = [] }) => eventTypes);
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

function operationOf(type: string, resource: string | undefined): Record<string, unknown> {
  const data = resource === undefined ? {} : { data: { $ref: `#/components/schemas/${resource}` } };
  return {
    operationId: `on_${type.replaceAll('.', '_')}`.replaceAll(/_+([a-z0-9])/g, (_, letter: string) =>
      letter.toUpperCase(),
    ),
    tags: ['Webhooks'],
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
        'application/json': {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/Event' },
              { type: 'object', properties: { type: { type: 'string', enum: [type] }, ...data } },
            ],
          },
        },
      },
    },
    responses: {
      '2XX': { description: 'Received; answer within 10 seconds' },
      '4XX': { description: 'Not received; the service sends it again' },
    },
  };
}
