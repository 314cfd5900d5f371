import { isDeepStrictEqual } from 'node:util';
import { ID_PATTERN } from '../kernel/id.ts';

export type JsonSchema = { readonly title?: string; readonly [key: string]: unknown };

/** The parts of the document that operations share. */
export type Components = {
  readonly schemas: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, unknown>>;
  /** A schema as it is published in a request, where an unknown field is an error. */
  inRequest(schema: unknown): unknown;
  /** A schema as it is published in an answer, which can get further fields in later releases. */
  inAnswer(schema: unknown): unknown;
  /** A reference to the response, or the response itself if operations have different ones for these problems. */
  share(slugs: readonly string[], response: unknown): unknown;
};

/** `InvalidRequestOrExceedsPrecision`. */
const nameOf = (slugs: readonly string[]): string =>
  slugs
    .join('-or-')
    .split('-')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('');

/** What generators of clients need beside what validation needs. */
function forGenerators(schema: Readonly<Record<string, unknown>>, isOpen: boolean): Record<string, unknown> {
  const { additionalProperties, pattern, ...rest } = schema;
  const isText = Array.isArray(rest.enum) && rest.enum.every((one) => typeof one === 'string');
  return {
    ...(isText && rest.type === undefined ? { type: 'string' } : {}),
    ...rest,
    // Not both: openapi-generator writes Python that does not run for an id with a format and a pattern.
    ...(pattern === ID_PATTERN ? { format: 'uuid' } : pattern === undefined ? {} : { pattern }),
    ...(additionalProperties === undefined || (isOpen && additionalProperties === false)
      ? {}
      : { additionalProperties }),
  };
}

/** Schemas with a title become components of that name, and are referenced. */
export function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const responses: Record<string, unknown> = {};

  function publish(value: unknown, isOpen: boolean): unknown {
    if (Array.isArray(value)) return value.map((one) => publish(one, isOpen));
    if (value === null || typeof value !== 'object') return value;
    const inner = Object.entries(value).map(([key, one]) => [key, publish(one, isOpen)] as const);
    const schema = forGenerators(Object.fromEntries(inner), isOpen);
    const name = (value as JsonSchema).title;
    if (typeof name !== 'string' || !('type' in value)) return schema;
    // A request is closed and an answer is open, so they cannot share a component.
    const title = isOpen || name.endsWith('Request') ? name : `${name}Request`;
    schema.title = title;
    if (schemas[title] !== undefined && !isDeepStrictEqual(schemas[title], schema)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  return {
    schemas,
    responses,
    inRequest: (schema) => publish(schema, false),
    inAnswer: (schema) => publish(schema, true),
    share(slugs, response) {
      const name = nameOf(slugs);
      responses[name] ??= response;
      return isDeepStrictEqual(responses[name], response)
        ? { $ref: `#/components/responses/${name}` }
        : response;
    },
  };
}
