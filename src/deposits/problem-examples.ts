import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { answerExampleOf, type ProblemExamples, refIdTaken } from '../kernel/problem-examples.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';

export const DEPOSIT_PROBLEMS: ProblemExamples = {
  forbidden: profileDisabled,
  'not-found': ({ operationId }) =>
    operationId === 'creditSuspenseDeposit'
      ? notFound('suspense deposit', EXAMPLE_IDS.suspenseDeposit)
      : notFound('profile', EXAMPLE_IDS.profile),
  'already-exists': (route) => refIdTaken(route, 'metadata'),
  'invalid-state': (route) => {
    const detail = `It was credited as the transfer ${String(answerExampleOf(route).id)}.`;
    return new Problem('invalid-state', detail, { status: 'CREDITED' });
  },
};
