import { notFound, Problem } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import { BALANCE, IMPORTED, ITEM, MATCH } from './examples.ts';

function otherLines(): Problem {
  const { statement_id: id, account } = IMPORTED;
  const detail = `The statement "${id}" of ${account} was imported before with other lines.`;
  return new Problem('already-exists', detail, { existing: IMPORTED, differs: ['content'] });
}

function otherBalance(): Problem {
  const { account, at, reference } = BALANCE;
  const detail = `Another balance of ${account} at ${at} was reported under the reference "${reference}".`;
  return new Problem('already-exists', detail, { existing: BALANCE, differs: ['balance'] });
}

export const RECONCILIATION_PROBLEMS: ProblemExamples = {
  'not-found': () => notFound('match', MATCH.id),
  'already-exists': ({ operationId }) => (operationId === 'reportBalance' ? otherBalance() : otherLines()),
  'invalid-state': () =>
    new Problem('invalid-state', `Item ${ITEM.id} is matched already.`, { status: 'MATCHED' }),
};
