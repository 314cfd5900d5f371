import { notFound, Problem } from '../kernel/problem.ts';
import { answerExampleOf, type ProblemExamples, requestExampleOf } from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';

const idOf = (route: Route): string => {
  const { id, approval_id: approvalId } = answerExampleOf(route);
  return String(id ?? approvalId);
};

export const APPROVAL_PROBLEMS: ProblemExamples = {
  'not-found': (route) => notFound('approval', idOf(route)),
  forbidden: (route) =>
    new Problem('forbidden', `You made the request ${idOf(route)}: somebody else has to approve it.`, {
      approval_id: idOf(route),
    }),
  'invalid-state': (route) =>
    new Problem('invalid-state', `The request ${idOf(route)} is EXECUTED already.`, {
      approval_id: idOf(route),
      status: 'EXECUTED',
    }),
  'digest-mismatch': (route) => {
    const { digest } = answerExampleOf(route);
    const detail = `The request ${idOf(route)} is not the one that you have seen: its digest differs. Nothing was executed; read it again.`;
    return new Problem('digest-mismatch', detail, {
      approval_id: idOf(route),
      digest,
      found: requestExampleOf(route).digest,
    });
  },
};
