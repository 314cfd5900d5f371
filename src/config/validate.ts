import { createRequire } from 'node:module';
import type { TSchema } from 'typebox';

/** Turns the first error of a configuration file into one clause that names the entry. */

type Validation = typeof import('typebox/value');
type Fault = ReturnType<Validation['Value']['Errors']>[number];

/** Loaded only if there is a file: it has 300 modules. */
const validation = (): Validation => createRequire(import.meta.url)('typebox/value') as Validation;

/** Long enough to recognize the value, short enough to keep the sentence readable. */
const SHOWN_CHARACTERS_MAX = 60;

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}

function append(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** The entry that a JSON pointer leads to: `/assets/0/code` is at `assets[0].code`. */
function locate(
  content: unknown,
  pointer: string,
  root: string,
): { readonly path: string; readonly value: unknown } {
  let path = root;
  let value = content;
  for (const name of validation().Pointer.Indices(pointer)) {
    path = Array.isArray(value) ? `${path}[${name}]` : append(path, name);
    // Only own entries: `__proto__` is a name like any other in JSON.
    value = Object.getOwnPropertyDescriptor(value, name)?.value;
  }
  return { path, value };
}

/** The keywords of JSON Schema that the texts are made of, and our own `expected`. */
type Keywords = {
  readonly expected?: string;
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: unknown;
};

/** What the entry must be, according to the schema. */
function expectation({ expected, enum: values, type }: Keywords): string {
  if (expected !== undefined) return expected;
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'array') return 'a list';
  return type === 'object' ? 'an object' : `a ${type}`;
}

function schemaAt(schema: TSchema, { schemaPath }: Fault): Keywords {
  return validation().Pointer.Get(schema, schemaPath.slice(1)) as Keywords;
}

function clause(schema: TSchema, content: unknown, fault: Fault, root: string): string {
  const at = schemaAt(schema, fault);
  const { path, value } = locate(content, fault.instancePath, root);
  const properties = at.properties ?? {};
  if (fault.keyword === 'additionalProperties') {
    const [unknown] = fault.params.additionalProperties;
    return `${append(path, unknown!)} is not a known entry: use ${Object.keys(properties).join(', ')}`;
  }
  if (fault.keyword === 'required') {
    const [missing] = fault.params.requiredProperties;
    return `${append(path, missing!)} is missing: it must be ${expectation(properties[missing!]!)}`;
  }
  return `${path === '' ? 'the file' : path} must be ${expectation(at)}, not ${shown(value)}`;
}

/**
 * Drops duplicate errors. An invalid value and an unknown name are each reported twice, for the entry and for the object
 * around it: for an unknown name the error of the object is clearer, for an invalid value that of the entry. A union is
 * reported for itself and for each branch: an error inside a branch is clearer than "no branch matches".
 */
function essential(schema: TSchema, faults: readonly Fault[]): readonly Fault[] {
  const isInside = (inner: Fault, outer: Fault): boolean =>
    inner.instancePath.startsWith(`${outer.instancePath}/`);
  const unions = faults.filter(({ keyword }) => keyword === 'anyOf');
  return faults.filter((fault) => {
    if (fault.keyword === 'boolean') return false;
    if (fault.keyword === 'additionalProperties')
      return schemaAt(schema, fault).additionalProperties === false;
    if (fault.keyword === 'anyOf') return !faults.some((one) => isInside(one, fault));
    return !unions.some((union) => union.instancePath === fault.instancePath);
  });
}

/** Undefined if the content, which is at `at` in the file, has the shape. An unknown name comes first: a typo explains the missing entry. */
export function shapeFault(schema: TSchema, content: unknown, at = ''): string | undefined {
  const faults = essential(schema, validation().Value.Errors(schema, content));
  const fault = faults.find(({ keyword }) => keyword === 'additionalProperties') ?? faults[0];
  return fault && clause(schema, content, fault, at);
}
