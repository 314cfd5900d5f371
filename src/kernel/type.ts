import type { Type as Builder, TSchema } from 'typebox';

/**
 * The builders of TypeBox that schemas here are made of. They return the same JSON Schema, with the same types; only the
 * types are TypeBox's. Its own builders are 370 modules, which would take a quarter of the time of every start.
 */
type Builders = Pick<
  typeof Builder,
  'Array' | 'Boolean' | 'Enum' | 'Integer' | 'Object' | 'Optional' | 'String' | 'Union' | 'Unsafe'
>;

type Schema = Readonly<Record<string, unknown>>;

const optional = new WeakSet<object>();

function objectOf(properties: Readonly<Record<string, TSchema>>, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** A copy, because the same schema may be required elsewhere. */
function optionalOf(schema: Schema): Schema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

export const Type = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: Schema) => ({ enum: values, ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Object: objectOf,
  Optional: optionalOf,
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf, ...options }),
  Unsafe: (schema: Schema) => schema,
} as unknown as Builders;
