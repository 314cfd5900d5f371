import { Type as TypeBox } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Type } from './type.ts';

/** The same schema, by either builders. */
function sample(builders: typeof Type): unknown {
  const name = builders.String({ minLength: 1, description: 'A name' });
  const inner = builders.Object({ name, other: builders.Optional(name) }, { additionalProperties: false });
  return builders.Object({
    inner,
    maybe: builders.Optional(inner),
    kind: builders.Enum(['ONE', 'TWO'], { description: 'A kind' }),
    flag: builders.Boolean({ description: 'A flag' }),
    count: builders.Optional(builders.Integer({ minimum: 1 })),
    list: builders.Array(name, { maxItems: 3 }),
    either: builders.Union([name, builders.Integer()]),
    any: builders.Unsafe<string>(builders.Object({}, { additionalProperties: name })),
    none: builders.Object({ only: builders.Optional(builders.Boolean()) }),
  });
}

describe('builders of schemas', () => {
  it('build the same JSON Schema as those of TypeBox', () => {
    expect(JSON.stringify(sample(Type))).toBe(JSON.stringify(sample(TypeBox)));
  });
});
