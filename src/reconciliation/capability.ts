import type { Logger } from 'pino';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { differenceBacklog, lastBalances, type OutsideBalance } from './balance-store.ts';
import { RECONCILIATION_PROBLEMS } from './problem-examples.ts';
import { copyLedger } from './reconcile.ts';
import { type ReconciliationDependencies, reconciliationRoutes } from './routes.ts';
import { openBacklog } from './store.ts';

type Dependencies = ReconciliationDependencies & { readonly log: Pick<Logger, 'warn'> };

export type Reconciliation = Capability & {
  /** The last balance that was reported for each account and asset. */
  lastBalances(): Promise<readonly OutsideBalance[]>;
};

/** Statements of banks beside the ledger. */
export function createReconciliation(dependencies: Dependencies): Reconciliation {
  const { database, log } = dependencies;
  const copying = repeat(
    LIMITS.reconciliationIntervalMs,
    async () => {
      await copyLedger(database, dependencies);
      return 'wait';
    },
    (error) => log.warn({ err: error }, 'could not reconcile new entries of the ledger'),
  );
  return {
    name: 'reconciliation',
    lastBalances: () => lastBalances(database),
    routes: reconciliationRoutes(dependencies),
    tags: OPERATOR_TAG,
    problemExamples: RECONCILIATION_PROBLEMS,
    workers: [{ name: 'reconciliation', stage: 'background', ...copying }],
    backlogs: [openBacklog(database), differenceBacklog(database, dependencies.assets)],
  };
}
