import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Capability } from '../kernel/capability.ts';
import { repeat } from '../kernel/repeat.ts';
import type { Signal } from '../kernel/signal.ts';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import type { AuditReport } from './audit.ts';
import { auditIncrement } from './audit-increments.ts';
import { rollUpSystemBalances } from './balances.ts';
import type { BalanceKey } from './command.ts';
import { olderRequests } from './older-keys-store.ts';
import type { Trouble, WritePathObserver } from './write-path/observer.ts';
import { createWritePath, type WritePath } from './write-path.ts';

type Dependencies = {
  readonly database: Database;
  /** Connections that only the write path uses. */
  readonly writeDatabase: Database;
  readonly assets: Assets;
  readonly logger: Logger;
  /** Reports an outage of the database once, however many workers notice it. */
  readonly log: Pick<Logger, 'warn'>;
  /** Sent with the balances that a commit on this node changed. */
  readonly committed: Signal<readonly BalanceKey[]>;
  readonly metrics: {
    readonly writePath: Pick<WritePathObserver, 'batch' | 'queue'> & { trouble(what: Trouble): void };
    audited(report: AuditReport, seconds: number): void;
  };
};

/** The write path, and the background jobs of the ledger. */
export function createLedger(dependencies: Dependencies): Capability & { readonly writePath: WritePath } {
  const { writeDatabase, assets, committed, metrics } = dependencies;
  const writePath = createWritePath({
    database: writeDatabase,
    assets,
    observer: {
      ...metrics.writePath,
      committed: committed.send,
      trouble(what, error) {
        metrics.writePath.trouble(what);
        logTrouble(dependencies, what, error);
      },
    },
  });
  const stopping: Worker = {
    name: 'write path',
    stage: 'ledger',
    start: () => undefined,
    stop: writePath.stop,
  };
  return {
    name: 'ledger',
    workers: [stopping, rollUpWorker(dependencies), auditWorker(dependencies)],
    olderRows: [olderRequests(dependencies.database)],
    writePath,
  };
}

function logTrouble({ logger, log }: Dependencies, what: Trouble, error: unknown): void {
  const facts = { err: error, what };
  // A stale cache is normal if nodes share balances, and a lost connection is replaced: neither needs attention.
  if (what === 'stale-cache') logger.debug(facts, 'a batch is decided again on locked balances');
  else if (what === 'connection-lost') logger.info(facts, 'a batch is retried on another connection');
  // A commit in doubt is always logged, even during an outage of the database.
  else (what === 'in-doubt' ? logger : log).warn(facts, 'trouble in the write path');
}

function rollUpWorker({ database, log }: Dependencies): Worker {
  const rollUp = repeat(
    LIMITS.rollupIntervalMs,
    async () => {
      const folded = await rollUpSystemBalances(database, LIMITS.rollupDeltasMax);
      return folded === LIMITS.rollupDeltasMax ? 'again' : 'wait';
    },
    (error) => log.warn({ err: error }, 'could not roll up system balances'),
  );
  return { name: 'roll-up of system balances', stage: 'background', ...rollUp };
}

function auditWorker({ database, assets, metrics, logger, log }: Dependencies): Worker {
  const stopping = new AbortController();
  const audits = repeat(
    LIMITS.auditIntervalMs,
    async () => {
      const started = performance.now();
      const report = await auditIncrement(database, assets, { signal: stopping.signal });
      if (report === undefined) return 'wait';
      metrics.audited(report, (performance.now() - started) / 1000);
      for (const { rule, line } of report.violations) logger.fatal({ rule }, line);
      return 'wait';
    },
    (error) => log.warn({ err: error }, 'could not run the audit'),
  );
  return {
    name: 'audit',
    stage: 'background',
    start: () => audits.start(LIMITS.auditFirstMs),
    // Not awaited: it ends after a slice, or with its connection. A checkpoint is one row, so none is left unfinished.
    stop() {
      stopping.abort();
      void audits.stop();
    },
  };
}
