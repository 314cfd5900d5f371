import type { Logger } from 'pino';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Signal } from '../kernel/signal.ts';
import type { BalanceKey } from '../ledger/command.ts';
import { settlementBacklog } from './backlog-store.ts';
import type { EngineTables } from './engine/commands.ts';
import { resumeFrozen, waitTable } from './engine-store.ts';
import { SETTLEMENT_EVENTS } from './event-types.ts';
import { networkRoute } from './network-route.ts';
import { SETTLEMENT_PROBLEMS } from './problem-examples.ts';
import { type SettlementDependencies, settlementRoutes } from './routes.ts';
import { settlementById, settlements, settlementsAmong } from './store.ts';
import type { Settlement } from './transaction.ts';
import { createSettlementWorker, type SettlementWorker } from './worker.ts';

type Dependencies = Omit<SettlementDependencies, 'affirmed'> & {
  readonly heldProfiles: EngineTables['heldProfiles'];
  readonly heldFreezes: EngineTables['heldFreezes'];
  readonly clock: Clock;
  /** The balances that a commit on this node changed. */
  readonly committed: Signal<readonly BalanceKey[]>;
  readonly log: Pick<Logger, 'warn'>;
};

export type SettlementCapability = Capability & {
  readonly engine: SettlementWorker;
  /** A transaction of any customers, for operators. */
  byId(id: string): Promise<Settlement | undefined>;
  readonly resumeFrozen: typeof resumeFrozen;
  /** Those of these ids that are settlement transactions. */
  among(ids: readonly string[]): Promise<readonly string[]>;
};

/** Settlement transactions between two parties, and the engine that settles them. */
export function createSettlement(dependencies: Dependencies): SettlementCapability {
  const { database, writePath, assets, profiles, clock, committed, log } = dependencies;
  const { heldProfiles, heldFreezes } = dependencies;
  const engine = createSettlementWorker({
    database,
    writePath,
    tables: { assets, profiles, heldProfiles, heldFreezes, settlements, waits: waitTable },
    disabledProfiles: dependencies.disabledProfiles,
    clock,
    failed: (error, what) => log.warn({ err: error }, what),
  });
  committed.listen(engine.changed);
  return {
    name: 'settlement',
    routes: [
      ...settlementRoutes({ ...dependencies, affirmed: engine.affirmed }),
      networkRoute({ database, assets }),
    ],
    tags: {
      Settlement: 'Trades between two parties: all legs move together, or none does.',
      ...OPERATOR_TAG,
    },
    problemExamples: SETTLEMENT_PROBLEMS,
    eventTypes: [{ ...SETTLEMENT_EVENTS, resource: 'SettlementTransaction' }],
    workers: [{ name: 'settlement engine', stage: 'background', start: engine.start, stop: engine.stop }],
    backlogs: [settlementBacklog(database)],
    engine,
    resumeFrozen,
    byId: (id) => settlementById(database, id),
    among: (ids) => settlementsAmong(database, ids),
  };
}
