import type { Queryable } from '../database/database.ts';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { arrivalOf, arrivalRecords, arrivalReferences } from './arrival-store.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { suspenseBacklog } from './backlog-store.ts';
import type { DepositOrigins } from './by-operator.ts';
import { DEPOSIT_PROBLEMS } from './problem-examples.ts';
import { type DepositDependencies, depositRoutes } from './routes.ts';
import { findSuspense, suspenseAmong, suspenseDeposits, suspenseOf } from './store.ts';

type Dependencies = Omit<DepositDependencies, 'suspenseDeposits' | 'arrivalRecords'> & {
  readonly transferById: (id: string) => Promise<Transfer | undefined>;
};

const originsIn = (database: Queryable): DepositOrigins => ({
  suspense: (id) => findSuspense(database, id),
  suspenseOf: (transferId) => suspenseOf(database, transferId),
  arrivalOf: (by, id) => arrivalOf(database, by, id),
});

export type Deposits = Capability & {
  readonly origins: DepositOrigins;
  readonly arrivals: Arrivals;
  /** Those of these ids that are suspense deposits. */
  suspenseAmong(ids: readonly string[]): Promise<readonly string[]>;
  /** The bank's references, or the transactions, of what arrived as these records. */
  references(ids: readonly string[]): Promise<readonly { readonly id: string; readonly reference: string }[]>;
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
    origins: originsIn(database),
    references: (ids) => arrivalReferences(database, ids),
    suspenseAmong: (ids) => suspenseAmong(database, ids),
  };
}
