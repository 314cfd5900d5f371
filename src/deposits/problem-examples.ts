import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import { type ProblemExamples, refIdTaken } from '../kernel/problem-examples.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';

export const DEPOSIT_PROBLEMS: ProblemExamples = {
  forbidden: profileDisabled,
  'not-found': () => notFound('profile', EXAMPLE_IDS.profile),
  'already-exists': (route) => refIdTaken(route, 'metadata'),
};
