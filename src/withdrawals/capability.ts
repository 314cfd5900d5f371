import type { Logger } from 'pino';
import type { Declare } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import type { PriceSource } from '../fees/prices.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import { type Backlog, type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { Table } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { Screen } from '../policies/screening.ts';
import { noticeBacklog } from '../rails/backlog-store.ts';
import type { ArrivedDeposit, Rails } from '../rails/rail.ts';
import type { TransferAccess } from '../transfers/access.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { withdrawalBacklogs } from './backlog-store.ts';
import type { HeldDecision } from './held.ts';
import { type HeldParts, heldRoutes, refuseHeld, releaseHeld } from './held-routes.ts';
import { noteTable } from './note-store.ts';
import { createNoticeWorker, type NoticeWorker, type ReturnNotice } from './notices.ts';
import { contradictions, rents } from './payout-store.ts';
import { WITHDRAWAL_PROBLEMS } from './problem-examples.ts';
import { type CreationTables, operatorRoutes, withdrawalRoutes } from './routes.ts';
import type { ScreeningParts } from './screen.ts';
import type { Checkpoint, PayoutTiming } from './steps.ts';
import { newWork, olderPayments, railOf, works } from './store.ts';
import { originatorKey, type ProgressTables, paymentOf } from './transitions.ts';
import { createWithdrawalWorker, PAYOUT_TIMING, type WithdrawalWorker } from './worker.ts';

export type WithdrawalDependencies = Omit<CreationTables, 'newWork' | 'hasRail'> & {
  readonly declare: Declare;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly transfers: TransferAccess;
  readonly changedTransfers: Table<Transfer>;
  readonly heldFiatAccounts: ProgressTables['heldFiatAccounts'];
  readonly frozenTransfers: ProgressTables['frozenTransfers'];
  readonly originators: ProgressTables['originators'];
  readonly releasedUses: ProgressTables['releasedUses'];
  readonly screen: Screen;
  readonly schedule: FeeSchedule;
  readonly prices: PriceSource;
  readonly rentLamportsPerDayMax: bigint;
  /** Credits a deposit that a rail reports. */
  readonly deposit: (arrived: ArrivedDeposit) => Promise<unknown>;
  /** Books what a rail reports as returned after its withdrawal was COMPLETED. */
  readonly returned: (notice: ReturnNotice) => Promise<unknown>;
  /** Whether this node calls rails and processes their notices; otherwise other nodes do. */
  readonly callsRails: boolean;
  /** `error`: an operator has to investigate. `warn`: it is retried. */
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** For metrics. */
  readonly called?: (rail: string, reach: 'reached' | 'unavailable') => void;
  /** For tests. */
  readonly timing?: Partial<PayoutTiming>;
  readonly checkpoint?: (name: Checkpoint, transferId: string) => Promise<void>;
  readonly nowMs?: () => number;
};

export type Withdrawals = Capability & {
  readonly worker: WithdrawalWorker;
  readonly notices: NoticeWorker;
  /** For commands that create a withdrawal, and for those that move or end one. */
  readonly creation: CreationTables;
  readonly progress: ProgressTables;
  /** Give, or refuse, the approval that a policy of that owner requires. */
  releaseHeld(id: string, decision: HeldDecision): Promise<Transfer>;
  refuseHeld(id: string, decision: HeldDecision): Promise<Transfer>;
  /** The rail of a withdrawal that has not ended. */
  railOf(transferId: string): Promise<string | undefined>;
};

function backlogsOf({ database, rails, transfers }: WithdrawalDependencies): Backlog[] {
  const names = rails.list.map(({ name }) => name);
  return [...withdrawalBacklogs(database, names, transfers.byId), noticeBacklog(database, names)];
}

/** Screening sees the withdrawal as its rail will. The fiat account may change until then, and is screened as it is now. */
function screeningParts({
  database,
  screen,
  originators,
  fiatAccounts,
}: Pick<WithdrawalDependencies, 'database' | 'screen' | 'originators' | 'fiatAccounts'>): ScreeningParts {
  return {
    screen,
    timeoutMs: LIMITS.screeningTimeoutMsMax,
    paymentFor: (transfer, assets) =>
      database.transaction(async (tx) => {
        const key = originatorKey(transfer);
        const names = (await originators.load!(tx, [key])).get(key);
        const { fiatAccountId } = transfer;
        const account = fiatAccountId
          ? (await fiatAccounts.load!(tx, [fiatAccountId])).get(fiatAccountId)
          : undefined;
        return paymentOf(transfer, account, assets, names);
      }),
  };
}

/** Withdrawals: customers request them, rails pay them, and the reports of rails end them. */
export function createWithdrawals(dependencies: WithdrawalDependencies): Withdrawals {
  const { database, writePath, rails, transfers, log, checkpoint, called, nowMs } = dependencies;
  const creation = { ...dependencies, newWork, hasRail: (name: string) => rails.find(name) !== undefined };
  const progress: ProgressTables = {
    ...dependencies,
    transfers: dependencies.changedTransfers,
    works,
    contradictions,
    rents,
    notes: noteTable,
  };
  const held: HeldParts = { ...dependencies, tables: progress };
  const common = {
    writePath,
    rails,
    tables: progress,
    trouble: (what: string, facts: object) => log.error(facts, what),
  };
  const worker = createWithdrawalWorker({
    ...common,
    database,
    transfersById: transfers.byIds,
    timing: { ...PAYOUT_TIMING, ...dependencies.timing },
    screening: screeningParts(dependencies),
    failed: (error) => log.warn({ err: error }, 'could not process a withdrawal'),
    ...(checkpoint && { checkpoint }),
    ...(called && { called }),
  });
  const notices = createNoticeWorker({
    ...common,
    transferById: transfers.byId,
    deposit: dependencies.deposit,
    returned: dependencies.returned,
    failed: (error) => log.warn({ err: error }, 'could not collect or process notices of a rail'),
    ...(nowMs && { now: nowMs }),
  });
  return {
    name: 'withdrawals',
    routes: [
      ...withdrawalRoutes(transfers, creation),
      ...operatorRoutes(database, transfers, creation),
      ...heldRoutes(held),
    ],
    tags: OPERATOR_TAG,
    problemExamples: WITHDRAWAL_PROBLEMS,
    workers: dependencies.callsRails ? [worker, notices] : [],
    backlogs: backlogsOf(dependencies),
    olderRows: [olderPayments(database)],
    worker,
    notices,
    creation,
    progress,
    releaseHeld: (id, decision) => releaseHeld(held, id, decision),
    refuseHeld: (id, decision) => refuseHeld(held, id, decision),
    railOf: (transferId) => railOf(database, transferId),
  };
}
