import { notFound, Problem } from '../kernel/problem.ts';
import { answerExampleOf, answeredNotFound, type ProblemExamples } from '../kernel/problem-examples.ts';

export const FREEZE_PROBLEMS: ProblemExamples = {
  'not-found': (route) =>
    route.operationId === 'createFreeze'
      ? notFound('profile', String(answerExampleOf(route).subject_id))
      : answeredNotFound(route, 'freeze'),
  'invalid-state': (route) =>
    new Problem('invalid-state', `Freeze ${String(answerExampleOf(route).id)} is LIFTED already.`, {
      status: 'LIFTED',
    }),
};
