import type { FastifyRequest } from 'fastify';
import { type FieldError, Problem } from '../kernel/problem.ts';
import { shapeErrors, type ValidationError } from './problems.ts';

/**
 * All errors of a request whose shape is invalid: of its path, its body and its query, and those that the rules find in the
 * body. The framework stops at the first invalid part, but clients want all errors at once.
 */
export function faultsOf(request: FastifyRequest): FieldError[] {
  const parts = [
    ['params', request.params],
    ['body', request.body],
    ['querystring', request.query],
  ] as const;
  const shape = parts.flatMap(([part, value]) => {
    const validate = request.getValidationFunction(part) as Validate | undefined;
    // The framework validates a missing part as null.
    return validate === undefined || validate(value ?? null) ? [] : shapeErrors(validate.errors ?? [], part);
  });
  const content = contentErrors(request).filter(
    ({ pointer }) => !shape.some((one) => isWithin(pointer, one.pointer) || isWithin(one.pointer, pointer)),
  );
  return [...shape, ...content];
}

type Validate = ((value: unknown) => boolean) & { readonly errors?: ValidationError[] | null };

function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
}

/** The body may be so malformed that the rules throw: then only the errors of its shape are reported. */
function contentErrors({ operation, caller, body }: FastifyRequest): readonly FieldError[] {
  if (operation?.route.examine === undefined || caller === undefined) return [];
  try {
    operation.route.examine(caller, body);
    return [];
  } catch (error) {
    const errors = error instanceof Problem ? error.meta.errors : undefined;
    return Array.isArray(errors) ? (errors as FieldError[]) : [];
  }
}
