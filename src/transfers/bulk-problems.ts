import { type FieldError, invalidRequest, Problem } from '../kernel/problem.ts';

/** Problems of transfers in a bulk, and of a bulk because of one of its transfers. */
export function refuseRepeatedRefIds(transfers: readonly { readonly ref_id: string }[]): void {
  const first = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [index, { ref_id: refId }] of transfers.entries()) {
    const earlier = first.get(refId);
    if (earlier === undefined) first.set(refId, index);
    else
      errors.push({
        pointer: `/transfers/${index}/ref_id`,
        message: `must differ from the ref_id of /transfers/${earlier}`,
      });
  }
  if (errors.length > 0) throw invalidRequest(errors);
}

export const errorsOf = ({ meta }: Problem): readonly FieldError[] =>
  (meta.errors ?? []) as readonly FieldError[];

/** The problem of one transfer, with pointers into the body of the request. */
export function atPlace(problem: Problem, index: number): Problem {
  const errors = errorsOf(problem);
  if (errors.length === 0) return problem;
  const placed = errors.map((one) => ({ ...one, pointer: `/transfers/${index}${one.pointer}` }));
  if (problem.slug === 'invalid-request') return invalidRequest(placed);
  return new Problem(problem.slug, problem.message, { ...problem.meta, errors: placed });
}

/** Why nothing of the bulk was executed: the problem of one transfer. */
export function ofWhole(problem: Problem, index: number): Problem {
  const { slug, message, meta, retryAfterSeconds } = atPlace(problem, index);
  const detail = `Nothing was executed, because of /transfers/${index}: ${message}`;
  return new Problem(slug, detail, { ...meta, index }, retryAfterSeconds);
}
