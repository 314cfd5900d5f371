import { Problem } from '../kernel/problem.ts';
import { answeredNotFound, type ProblemExamples, tooManyDecimals } from '../kernel/problem-examples.ts';
import { LIMITS } from '../limits.ts';

export const POLICY_PROBLEMS: ProblemExamples = {
  'exceeds-precision': () => tooManyDecimals('/rules/0/max', 'USD', 2),
  'not-found': (route) =>
    answeredNotFound(route, route.operationId === 'removeDestination' ? 'destination' : 'policy'),
  'invalid-state': () =>
    new Problem('invalid-state', `There are ${LIMITS.policiesMax} policies already: change one of them.`, {
      status: 'FULL',
    }),
};
