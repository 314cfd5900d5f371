import type { Transaction } from '../database/database.ts';
import type { Packed } from '../database/packed.ts';
import type { Shards } from '../database/shards.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Problem } from '../kernel/problem.ts';

/** `available` and `held` belong to a profile and have a floor of zero. */
export type ProfileAccount = { readonly profileId: string; readonly account: 'available' | 'held' };

/** The service's own accounts. They may go negative: they mirror value outside the service, or value of no customer. */
export type SystemAccountName =
  | 'fees'
  | 'conversion'
  | 'suspense'
  | 'treasury'
  | `clearing:${string}`
  /** What a network was paid for sending payments. */
  | `network-fees:${string}`
  /** What the operator keeps of a rail's value outside the reach of the service. */
  | `cold:${string}`;
export type SystemAccount = { readonly account: SystemAccountName };
export type AccountRef = ProfileAccount | SystemAccount;

/** Moves a positive number of units from one account to another. Value moves in no other way. */
export type Posting = {
  readonly asset: string;
  readonly from: AccountRef;
  readonly to: AccountRef;
  readonly units: bigint;
  /** Set if one command moves value for several causes; otherwise the cause of the decision applies. */
  readonly causeId?: string;
};

export type BalanceKey = { readonly profileId: string; readonly asset: string };
export type Balance = { readonly available: bigint; readonly held: bigint };

export type RecordContext = { readonly assets: Assets; readonly recordedAt: Instant };

/**
 * Rows of a capability that commands read and write. The write path loads and stores them set-wise, once per batch. A later
 * command of the same batch sees the rows that an earlier one wrote.
 */
export type Table<Row> = {
  readonly name: string;
  /** Absent for tables that are only appended to. */
  load?(tx: Transaction, keys: readonly string[]): Promise<Map<string, Row>>;
  /** Absent for tables that are only read. Gets the last row written for each key. */
  write?(
    tx: Transaction,
    rows: readonly Row[],
    batchId: string,
    /** Of a log: who wrote each row. */
    actors?: readonly Actor[],
  ): Promise<unknown>;
  /** On a cluster, the optimistic lane sends these rows with the balances instead, see migrations 0043 and 0044. */
  pack?(shards: Shards, rows: readonly Row[]): readonly Packed[];
  /**
   * What the audit log shows of a row that a command writes: rows of a log. Not asked if the command itself appends a row to
   * the log under the same key, such as an event of the resource.
   */
  record?(row: Row, context: RecordContext): readonly Write[];
  /**
   * `write` sends all its statements synchronously, and throws synchronously if it cannot. So the commit can be sent
   * directly after them.
   */
  readonly sendsAtOnce?: true;
  /** Every write appends a row: none replaces another, and no command of the batch reads it. */
  readonly isLog?: true;
  /** Whether the row may be cached for later commands, which `confirm` it in their transaction. */
  canCache?(row: Row): boolean;
  /** Fails the transaction unless all rows with these keys are unchanged since they were loaded. */
  confirm?(tx: Transaction, keys: readonly string[]): Promise<unknown>;
};

export type Write<Row = unknown> = { readonly table: Table<Row>; readonly key: string; readonly row: Row };
export type Read = { readonly table: Table<unknown>; readonly key: string };

/** What a command may read: balances, rows, and two times that must not be confused. */
export type View = {
  /** The database's time. Rules compare only with this time: windows, expiry, due times. */
  readonly now: Instant;
  /**
   * The time that records show (`created_at`, `updated_at`): the instant of the command's entries, so that a balance at
   * that time includes them. If the last entry of a balance is far ahead of the clock, a time close to `now` instead.
   */
  readonly recordedAt: Instant;
  /** The batch that the command is part of. */
  readonly batchId: string;
  balance(profileId: string, asset: string): Balance;
  row<Row>(table: Table<Row>, key: string): Row | undefined;
};

export type Decision<Answer> =
  | {
      readonly accepted: true;
      /** The transfer, transfer group, settlement, conversion, suspense deposit or journal entry that moves the value. */
      readonly causeId: string;
      readonly postings: readonly Posting[];
      readonly writes: readonly Write[];
      readonly answer: Answer;
      /** The key of the command stays unused: the command has not done yet what the key is for. */
      readonly usesKey?: false;
    }
  | { readonly accepted: false; readonly problem: Problem };

/** Looked up before anything is decided; a key that exists makes the command a replay. */
export type IdempotencyKey = {
  readonly customerId: string;
  readonly space: string;
  readonly refId: string;
  /** The resource that the command creates, and that replays return. */
  readonly resourceId: string;
  /** The fields of the request. Amounts are normalized: "1.0" equals "1". Only digests of them are stored. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The identifying parts as one text, and the digests of the fields, computed when they are first needed. */
  text?: string;
  digests?: string;
};

export type Command<Answer> = {
  /** Who does it. Stored with what the command changes. */
  readonly actor: Actor;
  /** Whose turn the command takes when more commands wait than fit into a batch; absent for the service's own. */
  readonly customerId?: string;
  readonly key?: IdempotencyKey | undefined;
  /** Every balance row that the postings may touch. */
  readonly balances: readonly BalanceKey[];
  readonly reads?: readonly Read[];
  /**
   * May be decided on cached balances, which the transaction confirms, and at the node's estimate of the database's time.
   * Not for commands whose time must be read while all locks are held, such as those with windows.
   */
  readonly optimistic?: true;
  /**
   * Instead of a key and a rule: commands that are executed in their order, all or none (`allOrNone`). They write only to logs,
   * so that none of them reads what another one wrote.
   */
  readonly parts?: readonly Command<unknown>[];
  /** Pure: no IO, no clock, no randomness. May run more than once, when a batch is retried. */
  decide(view: View): Decision<Answer>;
};

export type Outcome<Answer> =
  | { readonly replayed: false; readonly answer: Answer }
  /** `differs` names the fields in which the request is another one than that which created the resource. */
  | {
      readonly replayed: true;
      readonly resourceId: string;
      readonly differs: readonly string[];
      /** Of a command with parts: the part that differs. Nothing was executed. */
      readonly part?: number;
    };

/** A write of a table, with the type of the row checked. */
export function write<Row>(table: Table<Row>, key: string, row: Row): Write {
  return { table, key, row };
}

export function read<Row>(table: Table<Row>, key: string): Read {
  return { table, key };
}

export function refuse(problem: Problem): { accepted: false; problem: Problem } {
  return { accepted: false, problem };
}
