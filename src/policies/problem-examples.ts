import { notFound, Problem } from '../kernel/problem.ts';
import { answeredNotFound, type ProblemExamples } from '../kernel/problem-examples.ts';
import { LIMITS } from '../limits.ts';
import { POLICY } from './examples.ts';

export const POLICY_PROBLEMS: ProblemExamples = {
  'not-found'(route) {
    if (route.operationId === 'removeDestination') return answeredNotFound(route, 'destination');
    return route.operationId.endsWith('CryptoDestinationAddress')
      ? answeredNotFound(route, 'crypto destination address')
      : notFound('policy', POLICY.id);
  },
  'invalid-state': () =>
    new Problem('invalid-state', `There are ${LIMITS.policiesMax} policies already: change one of them.`, {
      status: 'FULL',
    }),
};
