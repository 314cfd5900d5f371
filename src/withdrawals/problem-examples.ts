import { EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import {
  amountTooPrecise,
  answerExampleOf,
  type ProblemExamples,
  refIdTaken,
  totalNotAvailable,
} from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';
import { profileDisabled } from '../transfers/problem-examples.ts';

const isCreation = ({ operationId }: Route): boolean => operationId.startsWith('create');

export const WITHDRAWAL_PROBLEMS: ProblemExamples = {
  'exceeds-precision': amountTooPrecise,
  'insufficient-funds': totalNotAvailable,
  'fee-expired': () =>
    new Problem('fee-expired', `The guaranteed fee ${EXAMPLE_IDS.fee} expired at ${EXAMPLE_LATER}.`, {
      expired_at: EXAMPLE_LATER,
    }),
  'policy-refused': (route) => {
    const { asset, amount } = answerExampleOf(route);
    const detail = `A withdrawal may be at most 0.01 ${String(asset)}, ${String(amount)} ${String(asset)} were requested: withdraw less (policy "limits", rule "one payment").`;
    const meta = { policy: 'limits', rule: 'one payment', asset, max: '0.01', requested: amount };
    return new Problem('policy-refused', detail, meta);
  },
  forbidden: profileDisabled,
  'not-found': (route) =>
    isCreation(route)
      ? notFound('profile', EXAMPLE_IDS.profile)
      : notFound('withdrawal', EXAMPLE_IDS.cryptoWithdrawal),
  'invalid-state': () =>
    new Problem(
      'invalid-state',
      `Withdrawal ${EXAMPLE_IDS.cryptoWithdrawal} does not wait for your approval.`,
      { status: 'QUEUED' },
    ),
  'already-exists': (route) => refIdTaken(route, 'amount'),
};
