import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, type Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
  totalNotAvailable,
} from '../kernel/problem-examples.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';

export function profileDisabled(): Problem {
  return disabledProblem({ id: EXAMPLE_IDS.profile, status: 'DISABLED' })!;
}

export const TRANSFER_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  'insufficient-funds': totalNotAvailable,
  forbidden: profileDisabled,
  'not-found': (route) =>
    route.method === 'POST' ? notFound('profile', EXAMPLE_IDS.profile) : answeredNotFound(route, 'transfer'),
  'already-exists': (route) => refIdTaken(route, 'amount'),
};
