import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  answerExampleOf,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
  requestExampleOf,
} from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';
import { finalProblem } from './outcomes.ts';

function notFoundExample(route: Route): Problem {
  const { address, memo_id: memoId } = requestExampleOf(route);
  if (route.operationId === 'simulateDeposit') return notFound('profile', EXAMPLE_IDS.profile);
  if (route.body === undefined) return answeredNotFound(route, 'transfer');
  return notFound('deposit address', String(address ?? memoId));
}

function existsExample(route: Route): Problem {
  if (route.operationId === 'simulateDeposit') return refIdTaken(route, 'amount');
  const existing = answerExampleOf(route) as {
    suspense_deposit: { readonly rail: string; readonly reference: string };
  };
  const { rail, reference } = existing.suspense_deposit;
  const differs = 'amount_units';
  const detail = `The deposit ${reference} on ${rail} was reported before; the reports differ in ${differs}.`;
  return new Problem('already-exists', detail, { existing, differs: [differs] });
}

export const SANDBOX_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  forbidden: profileDisabled,
  'not-found': notFoundExample,
  'already-exists': existsExample,
  'invalid-state': () => finalProblem({ id: EXAMPLE_IDS.cryptoWithdrawal, status: 'COMPLETED' }),
};
