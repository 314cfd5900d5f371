import type { Logger } from 'pino';
import type { Declare } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import type { Arrivals } from '../deposits/arrivals.ts';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { systemAccounts } from '../ledger/balances.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { JOURNAL_EVENTS } from './event-types.ts';
import type { JournalSources, JournalTables } from './plan.ts';
import { declareJournal } from './privileged.ts';
import { JOURNAL_PROBLEMS } from './problem-examples.ts';
import { createReturned, type Returned } from './returns.ts';
import { book, journalRoutes } from './routes.ts';
import { findEntry, type JournalCause, journalCauses, journalEntries, withdrawalReturns } from './store.ts';

type Dependencies = {
  readonly declare: Declare;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly deposits: {
    readonly tables: Omit<
      JournalTables,
      'journalEntries' | 'withdrawalReturns' | 'systemAccounts' | 'withdrawals'
    >;
    readonly origins: JournalSources['origins'];
    readonly arrivals: Pick<Arrivals, 'arrive'>;
  };
  readonly withdrawals: { readonly progress: JournalTables['withdrawals'] };
  readonly settlement: { byId: JournalSources['settlement'] };
  readonly transfers: JournalSources['transfers'];
  readonly fiatAccounts: { kindOf: JournalSources['fiatKind'] };
  /** `error`: an operator has to investigate. */
  readonly log: Pick<Logger, 'error'>;
};

export type Journal = Capability & {
  /** Those of these ids that are journal entries. */
  causes(ids: readonly string[]): Promise<readonly JournalCause[]>;
  /** Books what a rail reports as returned. Fails while the withdrawal is PENDING. */
  readonly returned: (returned: Returned) => Promise<void>;
};

/** The operator's journal: movements of value that no customer requested. */
export function createJournal(dependencies: Dependencies): Journal {
  const { database, writePath, deposits, withdrawals, settlement, transfers, fiatAccounts } = dependencies;
  const tables: JournalTables = {
    ...deposits.tables,
    journalEntries,
    withdrawalReturns,
    systemAccounts,
    withdrawals: withdrawals.progress,
  };
  const sources: JournalSources = {
    transfers,
    fiatKind: fiatAccounts.kindOf,
    settlement: settlement.byId,
    origins: deposits.origins,
    entry: (id) => findEntry(database, id),
  };
  const parts = { database, writePath, tables, sources };
  const propose = declareJournal(dependencies.declare, parts);
  return {
    name: 'journal',
    routes: journalRoutes({ ...parts, propose }),
    tags: OPERATOR_TAG,
    problemExamples: JOURNAL_PROBLEMS,
    eventTypes: [JOURNAL_EVENTS],
    causes: (ids) => journalCauses(database, ids),
    returned: createReturned({
      ...parts,
      book: (booker, booking) => book(parts, booker, booking),
      arrive: deposits.arrivals.arrive,
      trouble: (what, facts) => dependencies.log.error(facts, what),
    }),
  };
}
