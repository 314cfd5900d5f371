import buildAjv from '@fastify/ajv-compiler';
import buildStringify from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

type Factories = Required<
  NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
>;
type Validate = ((value: unknown) => unknown) & { errors?: unknown };
type Serialize = (value: unknown) => string;
type Compile<Compiled> = (definition: unknown) => Compiled;

/**
 * The framework's own compilers, but each schema is compiled at its first use. Compiling all schemas would take a quarter of
 * every start.
 */
export const compilersFactory = {
  buildValidator(...given: Parameters<Factories['buildValidator']>) {
    const build = buildAjv() as (...given: unknown[]) => Compile<Validate>;
    return lazyValidator(build(...given));
  },
  buildSerializer(...given: Parameters<Factories['buildSerializer']>) {
    return lazySerializer(buildStringify()(...given) as Compile<Serialize>);
  },
} as unknown as Factories;

function lazyValidator(compile: Compile<Validate>): Compile<Validate> {
  return (definition) => {
    let compiled: Validate | undefined;
    const validate: Validate = (value) => {
      compiled ??= compile(definition);
      const isValid = compiled(value);
      validate.errors = compiled.errors;
      return isValid;
    };
    return validate;
  };
}

function lazySerializer(compile: Compile<Serialize>): Compile<Serialize> {
  return (definition) => {
    let compiled: Serialize | undefined;
    return (value) => {
      compiled ??= compile(definition);
      return compiled(value);
    };
  };
}
