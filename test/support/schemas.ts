import type { ErrorObject } from 'ajv/dist/2020.js';

/** An error of a schema as a sentence. */
export function describeError({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: readonly string[];
  };
  const more = additionalProperty ?? allowedValues?.join(', ');
  return `${instancePath || 'the body'} ${message}${more === undefined ? '' : `: ${more}`}`;
}

/** Answers may get further fields in later releases, but in this one they have exactly those of the document. */
export function closed(schema: any): any {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, closed(one)]));
  const isOpen = schema.type === 'object' && schema.properties !== undefined;
  return isOpen ? { additionalProperties: false, ...inner } : inner;
}
