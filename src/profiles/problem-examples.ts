import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { answerExampleOf, type ProblemExamples, requestExampleOf } from '../kernel/problem-examples.ts';
import { notEmpty } from './change.ts';
import { BALANCE } from './examples.ts';

export const PROFILE_PROBLEMS: ProblemExamples = {
  'not-found': ({ method }) =>
    method === 'POST' ? notFound('account', EXAMPLE_IDS.account) : notFound('profile', EXAMPLE_IDS.profile),
  forbidden: () =>
    new Problem('forbidden', `The identity that owns account ${EXAMPLE_IDS.account} is frozen.`),
  'invalid-state': () =>
    notEmpty({ id: EXAMPLE_IDS.profile, status: 'ACTIVE' }, [{ ...BALANCE, available: '12.5' }]),
  'already-exists': (route) => {
    const nickname = String(requestExampleOf(route).nickname);
    const detail = `A profile with the nickname "${nickname}" already exists.`;
    return new Problem('already-exists', detail, {
      existing: answerExampleOf(route),
      differs: [route.method === 'POST' ? 'description' : 'id'],
    });
  },
};
