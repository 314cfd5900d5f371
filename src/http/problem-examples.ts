import { invalidField, Problem, type ProblemSlug, unavailable } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';
import { stepUpProblem } from '../kernel/step-up.ts';
import { headersTooLarge, problemFrom, UNAVAILABLE } from './problems.ts';
import { scopeProblem } from './routes.ts';
import { rateProblem } from './usage.ts';

/** The first required field is missing; where no field is required, there is an unknown parameter. */
function invalidExample(route: Route): Problem {
  const { required = [] } = (route.body ?? {}) as { required?: readonly string[] };
  return required[0] === undefined
    ? invalidField('/query/colour', 'is not a known parameter')
    : invalidField(`/${required[0]}`, 'is required');
}

/** Problems that every operation can answer. */
const COMMON: ProblemExamples = {
  'invalid-request': invalidExample,
  unauthenticated: () =>
    new Problem('unauthenticated', 'The access token has expired.', { error: 'invalid_token' }),
  'insufficient-scope': ({ scope }) =>
    scopeProblem(String(scope), [
      scope === 'events:read_event' ? 'funding:read_profile' : 'events:read_event',
    ]),
  'step-up-required': ({ stepUpMs = 0 }) => stepUpProblem(stepUpMs, stepUpMs * 2),
  'payload-too-large': () => problemFrom({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }),
  'unsupported-media-type': () => problemFrom({ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }),
  'headers-too-large': headersTooLarge,
  'rate-limited': () => rateProblem('Client ferry_b4347fb43a4afb2b9f86baf8', 1_000, 120),
  internal: () => problemFrom(new Error()),
  unavailable: () => unavailable(UNAVAILABLE),
};

/** Examples of common problems are here; the capability of the operation has those of its own problems. */
export function problemExample(route: Route, slug: ProblemSlug, ofCapability: ProblemExamples): Problem {
  const example = COMMON[slug] ?? ofCapability[slug];
  if (example === undefined)
    throw new Error(`${route.operationId} lists the problem ${slug}, of which its capability has no example`);
  return example(route);
}
