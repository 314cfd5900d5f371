import { EXAMPLE_IDS } from './examples.ts';
import { notFound, Problem, type ProblemSlug } from './problem.ts';
import type { Route } from './route.ts';

/**
 * Examples of problems for the API reference, as operations really answer them. Each capability has the examples of its
 * own operations; the HTTP layer has those that every operation can answer. A test provokes and compares them.
 */
export type ProblemExamples = Readonly<Partial<Record<ProblemSlug, (route: Route) => Problem>>>;

type Fields = Readonly<Record<string, unknown>>;

export const requestExampleOf = (route: Route): Fields => (route.example ?? {}) as Fields;
export const answerExampleOf = (route: Route): Fields => (route.answer ?? {}) as Fields;

/** For operations on one resource: the id of the answer example is unknown. */
export function answeredNotFound(route: Route, resource: string): Problem {
  return notFound(resource, String(answerExampleOf(route).id));
}

/** The `ref_id` of the example was used for a request with a different value in that field. */
export function refIdTaken(route: Route, differs: string): Problem {
  const { secret: _, ...existing } = answerExampleOf(route);
  const { ref_id: refId = existing.ref_id ?? 'my-own-id' } = requestExampleOf(route);
  const detail = `The ref_id "${String(refId)}" was used for a different request; they differ in ${differs}.`;
  return new Problem('already-exists', detail, { existing, differs: [differs] });
}

export function tooManyDecimals(pointer: string, asset: string, decimals: number): Problem {
  const message = `has ${decimals + 1} decimals, at most ${decimals} are allowed`;
  return new Problem('exceeds-precision', `${pointer.slice(1)} ${message} for ${asset}.`, {
    asset,
    max_decimals: decimals,
    errors: [{ pointer, message }],
  });
}

/** The `amount` of the request example has one decimal more than its asset: 2 for USD, 8 for all others. */
export function amountTooPrecise(route: Route): Problem {
  const { asset = 'USD' } = requestExampleOf(route);
  return tooManyDecimals('/amount', String(asset), asset === 'USD' ? 2 : 8);
}

/** The example profile holds less than the total of the answer. */
export function totalNotAvailable(route: Route): Problem {
  const { asset, total } = answerExampleOf(route);
  const available = '0.01';
  return new Problem(
    'insufficient-funds',
    `Profile ${EXAMPLE_IDS.profile} has ${available} ${String(asset)} available, ${String(total)} ${String(asset)} are needed.`,
    { profile_id: EXAMPLE_IDS.profile, asset, available, needed: total },
  );
}
