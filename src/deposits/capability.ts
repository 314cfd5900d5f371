import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { arrivalRecords } from './arrival-store.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { suspenseBacklog } from './backlog-store.ts';
import { DEPOSIT_PROBLEMS } from './problem-examples.ts';
import { type DepositDependencies, depositRoutes } from './routes.ts';
import { suspenseDeposits } from './store.ts';

type Dependencies = Omit<DepositDependencies, 'suspenseDeposits' | 'arrivalRecords'> & {
  readonly transferById: (id: string) => Promise<Transfer | undefined>;
};

export type Deposits = Capability & {
  readonly arrivals: Arrivals;
  /** For commands that credit a deposit. */
  readonly tables: DepositDependencies;
};

/** Deposits: addresses and memos to pay to, and what arrives there. */
export function createDeposits(dependencies: Dependencies): Deposits {
  const { database, writePath, transferById } = dependencies;
  const tables = { ...dependencies, suspenseDeposits, arrivalRecords };
  return {
    name: 'deposits',
    routes: depositRoutes(tables),
    tags: {
      Deposits: 'Addresses and bank memos to pay to. What arrives there is credited once.',
      ...OPERATOR_TAG,
    },
    problemExamples: DEPOSIT_PROBLEMS,
    backlogs: [suspenseBacklog(database)],
    arrivals: createArrivals({ database, writePath, tables, transferById: (_, id) => transferById(id) }),
    tables,
  };
}
