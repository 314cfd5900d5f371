import type { Database } from '../database/database.ts';
import { type Capability, CONTROL_TAG, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import type { FourEyes } from '../kernel/privileged.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { Declare } from './action.ts';
import { approvalBacklog } from './backlog-store.ts';
import { APPROVAL_PROBLEMS } from './problem-examples.ts';
import { approvalRoutes } from './routes.ts';
import { createVoting } from './voting.ts';

type Dependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly clock: Clock;
  readonly fourEyes: FourEyes;
};

export type Approvals = Capability & { readonly declare: Declare };

/** Four eyes: privileged actions wait until others have approved them. Other capabilities declare theirs. */
export function createApprovals(dependencies: Dependencies): Approvals {
  const voting = createVoting(dependencies);
  return {
    name: 'approvals',
    routes: approvalRoutes({ ...dependencies, voting }),
    tags: { ...OPERATOR_TAG, ...CONTROL_TAG },
    problemExamples: APPROVAL_PROBLEMS,
    backlogs: [approvalBacklog(dependencies.database)],
    declare: voting.declare,
  };
}
