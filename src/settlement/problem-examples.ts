import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  answerExampleOf,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
  requestExampleOf,
  tooManyDecimals,
} from '../kernel/problem-examples.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';
import type { Route } from '../kernel/route.ts';

const { profile, otherProfile } = EXAMPLE_IDS;

/** Affirming and cancelling; undefined for the operation that creates a transaction. */
function moveOf({ operationId }: Route): 'affirm' | 'cancel' | undefined {
  if (operationId === 'affirmSettlementTransaction') return 'affirm';
  return operationId === 'cancelSettlementTransaction' ? 'cancel' : undefined;
}

function forbiddenExample(route: Route): Problem {
  const move = moveOf(route);
  if (move === undefined) return disabledProblem({ id: profile, status: 'DISABLED' })!;
  const [side, owned] = move === 'affirm' ? ['target', otherProfile] : ['source', profile];
  return new Problem('forbidden', `Only the owner of the ${side} profile ${owned} may ${move}.`, {
    profile_id: owned,
  });
}

function stateExample(route: Route): Problem {
  const { id, status: to } = answerExampleOf(route);
  const status = moveOf(route) === 'affirm' ? 'CANCELLED' : 'AFFIRMED';
  const detail = `Settlement transaction ${String(id)} cannot become ${String(to)}: it is ${status}.`;
  return new Problem('invalid-state', detail, { status });
}

export const SETTLEMENT_PROBLEMS: ProblemExamples = {
  'exceeds-precision': (route) => {
    const [leg] = requestExampleOf(route).legs as readonly { readonly asset: string }[];
    return tooManyDecimals('/legs/0/amount', leg!.asset, 8);
  },
  forbidden: forbiddenExample,
  'not-found': (route) =>
    route.method === 'POST'
      ? notFound('profile', profile)
      : answeredNotFound(route, 'settlement transaction'),
  'already-exists': (route) => refIdTaken(route, 'legs'),
  'invalid-state': stateExample,
};
