import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
} from '../kernel/problem-examples.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';

const { profile } = EXAMPLE_IDS;

function notAvailable(): Problem {
  const detail = `Profile ${profile} has 0.01 USD available, 250 USD are needed.`;
  return new Problem('insufficient-funds', detail, {
    profile_id: profile,
    asset: 'USD',
    available: '0.01',
    needed: '250',
  });
}

export const CONVERSION_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  'insufficient-funds': notAvailable,
  forbidden: () => disabledProblem({ id: profile, status: 'DISABLED' })!,
  'not-found': (route) =>
    route.method === 'POST' ? notFound('profile', profile) : answeredNotFound(route, 'conversion'),
  'already-exists': (route) => refIdTaken(route, 'amount'),
};
