import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { answerExampleOf, type ProblemExamples, requestExampleOf } from '../kernel/problem-examples.ts';

export const PROFILE_PROBLEMS: ProblemExamples = {
  'not-found': ({ method }) =>
    method === 'POST' ? notFound('account', EXAMPLE_IDS.account) : notFound('profile', EXAMPLE_IDS.profile),
  'already-exists': (route) => {
    const nickname = String(requestExampleOf(route).nickname);
    const detail = `A profile with the nickname "${nickname}" already exists.`;
    return new Problem('already-exists', detail, {
      existing: answerExampleOf(route),
      differs: ['description'],
    });
  },
};
