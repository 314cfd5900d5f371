import type { FastifyRequest } from 'fastify';
import { type FieldError, Problem } from '../kernel/problem.ts';
import { shapeErrors, type ValidationError } from './problems.ts';

/**
 * Everything that is wrong with a request whose shape is: in its path, its body and its query, and with what the body
 * says, as far as that can be judged. The framework stops at the first of these; whoever corrects a request wants all.
 */
export function faultsOf(request: FastifyRequest): FieldError[] {
  const parts = [
    ['params', request.params],
    ['body', request.body],
    ['querystring', request.query],
  ] as const;
  const shape = parts.flatMap(([part, value]) => {
    const validate = request.getValidationFunction(part) as Validate | undefined;
    // Null where there is none, as the framework has it.
    return validate === undefined || validate(value ?? null) ? [] : shapeErrors(validate.errors ?? [], part);
  });
  const said = contentErrors(request).filter(
    ({ pointer }) => !shape.some((one) => isWithin(pointer, one.pointer) || isWithin(one.pointer, pointer)),
  );
  return [...shape, ...said];
}

type Validate = ((value: unknown) => boolean) & { readonly errors?: ValidationError[] | null };

function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
}

/** The body may be so odd that nothing can be said about it: then its shape is all there is to say. */
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
