import { identityDisabled } from '../identity/problem-examples.ts';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import {
  answerExampleOf,
  type ProblemExamples,
  refIdTaken,
  requestExampleOf,
} from '../kernel/problem-examples.ts';
import type { FiatAccountStatus } from './fiat-account.ts';
import { transitionFault, versionFault } from './rules.ts';

const { fiatAccount, identity } = EXAMPLE_IDS;

export const FIAT_ACCOUNT_PROBLEMS: ProblemExamples = {
  forbidden: identityDisabled,
  'not-found': (route) =>
    route.operationId === 'createFiatAccount'
      ? notFound('identity', identity)
      : notFound('fiat account', fiatAccount),
  'already-exists': (route) => refIdTaken(route, 'fiat_account_owner'),
  'invalid-state'(route) {
    const status = answerExampleOf(route).status as FiatAccountStatus;
    return 'digest' in requestExampleOf(route)
      ? versionFault({ id: fiatAccount, status })
      : transitionFault({ id: fiatAccount, status: 'APPROVED' }, status)!;
  },
};
