import { notFound, Problem } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import { IMPORTED, ITEM, MATCH } from './examples.ts';

export const RECONCILIATION_PROBLEMS: ProblemExamples = {
  'not-found': () => notFound('match', MATCH.id),
  'already-exists': () =>
    new Problem(
      'already-exists',
      `The statement "${IMPORTED.statement_id}" of ${IMPORTED.account} was imported before with other lines.`,
      { existing: IMPORTED, differs: ['content'] },
    ),
  'invalid-state': () =>
    new Problem('invalid-state', `Item ${ITEM.id} is matched already.`, { status: 'MATCHED' }),
};
