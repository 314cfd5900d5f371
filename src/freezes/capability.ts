import type { Logger } from 'pino';
import type { Declare } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { UnderWay } from './act.ts';
import { FREEZE_PROBLEMS } from './problem-examples.ts';
import { createResumeWorker, type Resume, type ResumeWorker } from './resume.ts';
import { freezeRoutes } from './routes.ts';
import { freezeBacklog } from './store.ts';

export type Freezes = Capability & { readonly resumer: ResumeWorker };

/** Freezes, which stop everything that moves value of a party until they are lifted. */
export function createFreezes(parts: {
  readonly declare: Declare;
  readonly database: Database;
  readonly underWay: readonly UnderWay[];
  readonly resumes: readonly Resume[];
  readonly works: boolean;
  readonly log: Pick<Logger, 'warn'>;
}): Freezes {
  const { database, resumes, works, log } = parts;
  const resumer = createResumeWorker(database, resumes, (error) =>
    log.warn({ err: error }, 'could not resume what waited for a freeze'),
  );
  return {
    name: 'freezes',
    routes: freezeRoutes(parts),
    tags: OPERATOR_TAG,
    problemExamples: FREEZE_PROBLEMS,
    workers: works ? [resumer] : [],
    backlogs: [freezeBacklog(database)],
    resumer,
  };
}
