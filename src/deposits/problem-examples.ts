import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import { answeredNotFound, type ProblemExamples, refIdTaken } from '../kernel/problem-examples.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';

export const DEPOSIT_PROBLEMS: ProblemExamples = {
  forbidden: profileDisabled,
  'not-found': (route) =>
    route.method === 'POST'
      ? notFound('profile', EXAMPLE_IDS.profile)
      : answeredNotFound(route, 'fiat deposit instructions'),
  'already-exists': (route) => refIdTaken(route, 'metadata'),
};
