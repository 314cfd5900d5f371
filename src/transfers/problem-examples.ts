import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, type Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
  totalNotAvailable,
} from '../kernel/problem-examples.ts';
import { disabledProblem } from '../kernel/profile-facts.ts';
import type { Route } from '../kernel/route.ts';
import { BULK_ANSWER, BULK_REQUEST } from './bulk-examples.ts';
import { ofWhole } from './bulk-problems.ts';
import { BulkTransferRequest } from './schema.ts';

export function profileDisabled(): Problem {
  return disabledProblem({ id: EXAMPLE_IDS.profile, status: 'DISABLED' })!;
}

/** Of a bulk: the problem of its first transfer. */
function orOfBulk(problemOf: (route: Route) => Problem): (route: Route) => Problem {
  const [example] = BULK_REQUEST.transfers;
  const [{ transfer } = {}] = BULK_ANSWER.results;
  return (route) =>
    route.body === BulkTransferRequest
      ? ofWhole(problemOf({ ...route, example, answer: transfer }), 0)
      : problemOf(route);
}

export const TRANSFER_PROBLEMS: ProblemExamples = {
  'exceeds-precision': orOfBulk(amountTooPrecise),
  'insufficient-funds': orOfBulk(totalNotAvailable),
  forbidden: orOfBulk(profileDisabled),
  'not-found': orOfBulk((route) =>
    route.method === 'POST' ? notFound('profile', EXAMPLE_IDS.profile) : answeredNotFound(route, 'transfer'),
  ),
  'already-exists': orOfBulk((route) => refIdTaken(route, 'amount')),
};
