import { notFound, Problem } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import { CANCELLED } from './examples.ts';

export const TREASURY_PROBLEMS: ProblemExamples = {
  'not-found': () => notFound('payment', CANCELLED.transfer_id!),
  'invalid-state': () =>
    new Problem(
      'invalid-state',
      `Assignment ${CANCELLED.assignment_id} was signed: the chain decides about it. Nothing was changed.`,
      { status: 'SIGNED' },
    ),
};
