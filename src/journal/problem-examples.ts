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

function missing(route: Route): Problem {
  const { operationId } = route;
  if (operationId === 'creditSuspenseDeposit')
    return notFound('suspense deposit', EXAMPLE_IDS.suspenseDeposit);
  if (operationId === 'bookJournalEntry') return notFound('profile', EXAMPLE_IDS.profile);
  return operationId === 'getJournalEntry'
    ? answeredNotFound(route, 'journal entry')
    : notFound('withdrawal', EXAMPLE_IDS.cryptoWithdrawal);
}

function notAvailable(route: Route): Problem {
  const { asset, amount } = requestExampleOf(route);
  const [profile, available] = [EXAMPLE_IDS.profile, '0.01'];
  return new Problem(
    'insufficient-funds',
    `Profile ${profile} has ${available} ${String(asset)} available, ${String(amount)} ${String(asset)} are needed.`,
    { profile_id: profile, asset, available, needed: amount },
  );
}

function wrongState(route: Route): Problem {
  if (route.operationId === 'creditSuspenseDeposit') {
    const detail = `It was credited as the transfer ${String(answerExampleOf(route).id)}.`;
    return new Problem('invalid-state', detail, { status: 'CREDITED' });
  }
  if (route.operationId === 'bookJournalEntry') {
    const detail = `It was reversed by the journal entry ${String(answerExampleOf(route).id)}.`;
    return new Problem('invalid-state', detail, { status: 'REVERSED' });
  }
  const detail = `Withdrawal ${EXAMPLE_IDS.cryptoWithdrawal} is FAILED already.`;
  return new Problem('invalid-state', detail, { status: 'FAILED' });
}

export const JOURNAL_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  'insufficient-funds': notAvailable,
  forbidden: profileDisabled,
  'not-found': missing,
  'already-exists': (route) =>
    refIdTaken(route, route.operationId === 'bookJournalEntry' ? 'amount' : 'reason'),
  'invalid-state': wrongState,
};
