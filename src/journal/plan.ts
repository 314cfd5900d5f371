import type { ArrivalTables } from '../deposits/arrival.ts';
import type { DepositOrigins } from '../deposits/by-operator.ts';
import type { Problem } from '../kernel/problem.ts';
import type { SystemAccountRow } from '../ledger/balances.ts';
import type { BalanceKey, Posting, Read, SystemAccountName, Table, View, Write } from '../ledger/command.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Settlement } from '../settlement/transaction.ts';
import type { Movement } from '../transfers/movement.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { EndingTables } from '../withdrawals/outcome.ts';
import type { Corrects, JournalEntry } from './entry.ts';

/** What came back of a withdrawal that was paid. */
export type WithdrawalReturn = {
  readonly transferId: string;
  readonly amountUnits: bigint;
  readonly returnedUnits: bigint;
};

export type JournalTables = ArrivalTables & {
  readonly journalEntries: Table<JournalEntry>;
  readonly withdrawalReturns: Table<WithdrawalReturn>;
  readonly systemAccounts: Table<SystemAccountRow>;
  readonly withdrawals: EndingTables;
};

/** Records that journal entries refer to. Only what never changes is used: the final state of a record, and its parties. */
export type JournalSources = {
  readonly transfers: {
    byId(id: string): Promise<Transfer | undefined>;
    byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Transfer>>;
  };
  readonly fiatKind: (fiatAccountId: string) => Promise<FiatKind | undefined>;
  readonly settlement: (id: string) => Promise<Settlement | undefined>;
  readonly origins: DepositOrigins;
  readonly entry: (id: string) => Promise<JournalEntry | undefined>;
};

export type Parts = { readonly tables: JournalTables; readonly sources: JournalSources };

/** An account of the service whose balance the decision needs. With a floor it cannot be overdrawn. */
export type Watched = {
  readonly account: SystemAccountName;
  readonly asset: string;
  readonly hasFloor: boolean;
};

/** How an order is decided: what it reads, and its rule. */
export type Plan = {
  readonly balances: readonly BalanceKey[];
  readonly reads: readonly Read[];
  readonly watched?: readonly Watched[];
  /** Pure. */
  decide(view: View): Effect | Problem;
};

/** What an accepted order does. */
export type Effect = {
  /** The entry's own postings. */
  readonly postings?: readonly Posting[];
  /** The transfer that moves the value instead. */
  readonly through?: Movement;
  readonly writes?: readonly Write[];
  /** Fields of the entry that are not in the order. */
  readonly entry: Partial<JournalEntry>;
  /** What the owner of a profile is shown as corrected, if anything. */
  readonly shownAs?: (profileId: string) => Corrects | undefined;
};

/** Keys of `journalEntries`. */
export const entryKey = (id: string): string => `entry:${id}`;
/** The reversal of what moved value under that cause. */
export const reversalKey = (causeId: string): string => `reversal:${causeId}`;
/** A correction of it that was not reversed. */
export const correctionKey = (causeId: string): string => `correction:${causeId}`;

/** The balances that these postings change, each once. */
export function balancesOf(postings: readonly Posting[]): BalanceKey[] {
  const keys = new Map<string, BalanceKey>();
  for (const { asset, from, to } of postings) {
    for (const ref of [from, to]) {
      if ('profileId' in ref) {
        const { profileId } = ref;
        keys.set(`${profileId}/${asset}`, { profileId, asset });
      }
    }
  }
  return [...keys.values()];
}
