import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { LogFilter } from '../events/log-store.ts';
import { type Capability, CONTROL_TAG, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Signal } from '../kernel/signal.ts';
import type { Vault } from '../kernel/vault.ts';
import { createRefusals, type Refusal } from './refusals.ts';
import { auditLogRoutes } from './routes.ts';

type Dependencies = {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** An attempt at a privileged action was refused. */
  readonly refused: Signal<Refusal>;
  readonly log: Pick<Logger, 'warn'>;
  readonly batchesOf: NonNullable<LogFilter['batchesOf']>;
};

/** The audit log: what the outbox recorded, with its actors, and refused attempts at privileged actions. */
export function createAuditLog(dependencies: Dependencies): Capability {
  const refusals = createRefusals(dependencies);
  dependencies.refused.listen(refusals.note);
  return {
    name: 'audit log',
    routes: auditLogRoutes({ ...dependencies, digestOf: dependencies.vault.digester('audit_log') }),
    tags: { ...OPERATOR_TAG, ...CONTROL_TAG },
    workers: [refusals.worker],
  };
}
