import { EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  type ProblemExamples,
  refIdTaken,
  totalNotAvailable,
} from '../kernel/problem-examples.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';

export const WITHDRAWAL_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  'insufficient-funds': totalNotAvailable,
  'fee-expired': () =>
    new Problem('fee-expired', `The guaranteed fee ${EXAMPLE_IDS.fee} expired at ${EXAMPLE_LATER}.`, {
      expired_at: EXAMPLE_LATER,
    }),
  forbidden: profileDisabled,
  'not-found': () => notFound('profile', EXAMPLE_IDS.profile),
  'already-exists': (route) => refIdTaken(route, 'amount'),
};
