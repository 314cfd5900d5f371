import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import { type ProblemExamples, refIdTaken } from '../kernel/problem-examples.ts';
import { tooManyEndpoints } from './commands.ts';
import { stillPending } from './delivery-routes.ts';

export const WEBHOOK_PROBLEMS: ProblemExamples = {
  forbidden: () => tooManyEndpoints(),
  'not-found': () => notFound('webhook', EXAMPLE_IDS.webhook),
  'already-exists': (route) => refIdTaken(route, 'url'),
  'invalid-state': () => stillPending(),
};
