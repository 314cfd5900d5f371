import type { Database } from '../database/database.ts';
import type { Arrivals } from '../deposits/arrivals.ts';
import type { Capability } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Networks } from '../networks/register.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { sandboxArrivalRoutes } from './arrivals.ts';
import type { DepositTables } from './deposit.ts';
import { sandboxDepositRoutes } from './deposits.ts';
import { createJournal, olderPayments } from './journal-store.ts';
import { type OutcomeDependencies, sandboxOutcomeRoutes } from './outcomes.ts';
import { SANDBOX_PROBLEMS } from './problem-examples.ts';
import { createSimulatedRails, type SimulatedRails } from './simulated.ts';

type Dependencies = OutcomeDependencies &
  DepositTables & {
    readonly database: Database;
    readonly transfers: TransferAccess;
    readonly arrivals: Arrivals;
  };

/** Operations that simulate banks and blockchains. Production does not have them. */
export function createSandbox(dependencies: Dependencies): Capability {
  return {
    name: 'sandbox',
    routes: [
      ...sandboxDepositRoutes(dependencies.transfers, dependencies),
      ...sandboxArrivalRoutes(dependencies),
      ...sandboxOutcomeRoutes(dependencies),
    ],
    tags: { Sandbox: 'Simulates banks, blockchains and reviews.' },
    problemExamples: SANDBOX_PROBLEMS,
    olderRows: [olderPayments(dependencies.database)],
  };
}

/** Simulated rails, at a configurable speed. */
export function createSimulation(
  node: { readonly database: Database; readonly networks: Networks; readonly clock: Clock },
  speed: number,
  /** Rails that are not simulated. */
  real: ReadonlySet<string> = new Set(),
): SimulatedRails {
  const { database, networks, clock } = node;
  return createSimulatedRails({ networks, journal: createJournal(database), now: clock.now, speed, real });
}
