import { identityDisabled } from '../identity/problem-examples.ts';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import {
  answerExampleOf,
  answeredNotFound,
  type ProblemExamples,
  refIdTaken,
} from '../kernel/problem-examples.ts';
import type { FiatAccountStatus } from './fiat-account.ts';
import { transitionFault } from './rules.ts';

const { fiatAccount, identity } = EXAMPLE_IDS;

export const FIAT_ACCOUNT_PROBLEMS: ProblemExamples = {
  forbidden: identityDisabled,
  'not-found': (route) =>
    route.operationId === 'createFiatAccount'
      ? notFound('identity', identity)
      : answeredNotFound(route, 'fiat account'),
  'already-exists': (route) => refIdTaken(route, 'fiat_account_owner'),
  'invalid-state': (route) =>
    transitionFault(
      { id: fiatAccount, status: 'APPROVED' },
      answerExampleOf(route).status as FiatAccountStatus,
    )!,
};
