import type { Capability } from '../kernel/capability.ts';

/** The name of the schema of events about a resource. */
const schemaName = (resource: string | undefined): string =>
  resource === undefined ? 'Event' : `${resource}Event`;

type Named = Readonly<Record<string, unknown>>;

/** What the document says about the requests that the service sends to the endpoints of its customers. */
export type EventDocument = {
  /** The schema of the events about each resource. */
  readonly schemas: Named;
  /** For each event the request that delivers it. */
  readonly pathItems: Named;
  readonly webhooks: Named;
  /** Any event, for the operation that creates an endpoint. */
  readonly callback: unknown;
};

/**
 * Webhooks are references to shared path items: openapi-generator writes Python that does not compile for webhooks that stand in
 * their section, and leaves references out.
 */
export function eventDocumentOf(capabilities: readonly Capability[]): EventDocument {
  const families = capabilities.flatMap(({ eventTypes = [] }) => eventTypes);
  const events = families.flatMap(({ types, resource }) =>
    Object.values(types).map((type) => ({ type, name: operationIdOf(type), resource })),
  );
  const resources = [...new Set(families.map(({ resource }) => resource))];
  return {
    schemas: Object.fromEntries(
      resources
        .filter((resource) => resource !== undefined)
        .map((resource) => [schemaName(resource), schemaOf(resource)]),
    ),
    pathItems: Object.fromEntries(
      events.map(({ type, name, resource }) => [
        name,
        { post: requestOf(name, `The event ${type}`, reference(resource)) },
      ]),
    ),
    webhooks: Object.fromEntries(
      events.map(({ type, name }) => [type, { $ref: `#/components/pathItems/${name}` }]),
    ),
    callback: {
      post: requestOf('onEvent', 'An event of a type that the endpoint subscribes to', {
        anyOf: resources.map(reference),
      }),
    },
  };
}

const reference = (resource: string | undefined) => ({
  $ref: `#/components/schemas/${schemaName(resource)}`,
});

/** `onTransferWireWithdrawalPending`. */
const operationIdOf = (type: string): string =>
  `on_${type.replaceAll('.', '_')}`.replaceAll(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

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
const requestOf = (operationId: string, summary: string, schema: unknown) => ({
  operationId,
  summary,
  security: [],
  parameters: [
    header('webhook-id', 'The id of the event, the same in every attempt'),
    header('webhook-timestamp', 'Seconds since 1970 at which the attempt was made'),
    header('webhook-signature', 'Signatures of Standard Webhooks, separated by spaces'),
  ],
  requestBody: { required: true, content: { 'application/json': { schema } } },
  responses: {
    '2XX': { description: 'Received; answer within 10 seconds' },
    '4XX': { description: 'Not received; the service sends it again' },
  },
});
