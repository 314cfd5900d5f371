import type { Connection, Database, Queryable } from '../../database/database.ts';
import { DatabaseUnavailable, NoAnswer } from '../../database/failure.ts';
import type { Assets } from '../../kernel/asset.ts';
import type { Instant } from '../../kernel/instant.ts';
import { LIMITS } from '../../limits.ts';
import { lockBalances, updateBalances } from '../balance-rows.ts';
import { type BalanceRow, type Book, balanceKeyText, createBook, findAmong } from '../book.ts';
import type { BalanceKey, Command, IdempotencyKey, Table } from '../command.ts';
import { createDecider, type Decided, type Rows, type Verdict } from '../decide.ts';
import { type RequestDigests, requestDigests } from '../digests.ts';
import { keysOf } from '../group.ts';
import { keyText } from '../keys.ts';
import * as store from '../store.ts';

/** The transaction failed. With `inDoubt`, its commit was sent and the answer never came. */
export class BatchFailure extends Error {
  readonly inDoubt: Doubt | undefined;
  /** The connection was lost before the commit was sent, so nothing is committed; another connection may succeed. */
  readonly lostEarly: boolean;
  constructor(cause: unknown, inDoubt?: Doubt, lostEarly = false) {
    super('the batch was not committed', { cause });
    this.inDoubt = inDoubt;
    this.lostEarly = lostEarly;
  }
}

/** How to find out the outcome of a commit whose answer never came. */
export type Doubt = {
  readonly verdicts: readonly Verdict[];
  /** Timeline of the server that received the commit: a server on an earlier timeline does not have the commit. */
  readonly timeline: string;
  /** The process id of the session on that server. */
  readonly pid: number;
  /** The outcome of the transaction, according to the server. */
  ended(database: Queryable): Promise<store.TransactionOutcome>;
  /** A row of the batch. `ended` counts only if the row is stored: after a crash the server may reuse the transaction id. */
  readonly evidence: store.Evidence;
};

export class MissingBalances extends Error {
  readonly keys: readonly BalanceKey[];
  constructor(keys: readonly BalanceKey[]) {
    super('balance rows are missing');
    this.keys = keys;
  }
}

/** The distinct idempotency keys, balances and rows that the batch needs. */
type Needs = {
  readonly keys: Map<string, IdempotencyKey>;
  readonly balances: Map<string, BalanceKey>;
  readonly rows: Map<Table<unknown>, Set<string>>;
};

/** Keys of the rows that commands read, by table. */
export function readsOf(commands: readonly Command<unknown>[]): Map<Table<unknown>, Set<string>> {
  const reads = new Map<Table<unknown>, Set<string>>();
  for (const command of commands) {
    for (const { table, key } of command.reads ?? []) {
      const keys = reads.get(table);
      if (keys === undefined) reads.set(table, new Set([key]));
      else keys.add(key);
    }
  }
  return reads;
}

function needsOf(commands: readonly Command<unknown>[]): Needs {
  const needs: Needs = { keys: new Map(), balances: new Map(), rows: readsOf(commands) };
  for (const command of commands) {
    for (const key of keysOf(command)) {
      const text = keyText(key);
      if (!needs.keys.has(text)) needs.keys.set(text, key);
    }
    for (const key of command.balances) needs.balances.set(balanceKeyText(key.profileId, key.asset), key);
  }
  return needs;
}

type Opened = {
  readonly usedKeys: ReadonlyMap<string, store.UsedKey>;
  readonly book: Book;
  readonly locked: readonly BalanceRow[];
  /** Rows of the book that the database does not have: zero, and not locked. */
  readonly missing: readonly BalanceRow[];
  readonly rows: Rows;
  readonly nowNs: Instant;
  /** When the node received `nowNs`, by its monotonic clock. */
  readonly heardAt: bigint;
  readonly xid: string;
  readonly timeline: string;
  readonly pid: number;
};

const NO_KEYS: ReadonlyMap<string, store.UsedKey> = new Map();

/**
 * One round trip, in the lock order of all nodes: balances sorted by profile and asset, then other rows by table name.
 * Keys are looked up once all locks are held, so that keys that another node used for these balances are visible. The
 * clock is read last: rules such as "before the end of the window" are decided at a time when all locks are held.
 */
async function open(
  connection: Connection,
  needs: Needs,
  assets: Assets,
  isPatient: boolean,
): Promise<Opened> {
  const balances = [...needs.balances.values()];
  // Some tables lock the rows that they load, so the order matters.
  const tables = [...needs.rows].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
  const [, , , locked, loaded, usedKeys, clock] = await Promise.all([
    connection.query('begin'),
    store.beginToWrite(connection),
    isPatient ? undefined : connection.query(`set local lock_timeout = ${LIMITS.lockTimeoutImpatientMs}`),
    balances.length > 0 ? lockBalances(connection, balances) : [],
    Promise.all(tables.map(async ([table, wanted]) => table.load!(connection, [...wanted]))),
    needs.keys.size > 0 ? store.usedKeys(connection, needs.keys) : NO_KEYS,
    store.clockAndTransaction(connection),
  ]);
  const heardAt = process.hrtime.bigint();
  const missing = locked.length < balances.length ? missingRows(needs, locked) : [];
  const rows: Rows = new Map(tables.map(([table], index) => [table, loaded[index]!]));
  const book = createBook(findAmong([...locked, ...missing]), assets);
  return { usedKeys, book, locked, missing, rows, heardAt, ...clock };
}

/**
 * Balances that never moved have no row, and count as zero. Only if an accepted command moves one, the row is created, and
 * the batch is retried with the row locked. So a refused request creates no rows, whatever ids it names.
 */
function missingRows(needs: Needs, locked: readonly BalanceRow[]): BalanceRow[] {
  const found = new Set(locked.map((row) => balanceKeyText(row.profileId, row.asset)));
  return [...needs.balances]
    .filter(([text]) => !found.has(text))
    .map(([, { profileId, asset }]) => ({ profileId, asset, available: 0n, held: 0n, movedAtNs: 0n }));
}

function requireLocked(opened: Opened): void {
  if (opened.missing.length === 0) return;
  const missing = new Set(opened.missing);
  const moved = opened.book.changedRows().filter((row) => missing.has(row));
  if (moved.length > 0) throw new MissingBalances(moved);
}

function rowOf(rows: Rows, table: Table<unknown>, key: string): unknown {
  const loaded = rows.get(table);
  if (loaded === undefined) throw new Error(`the command did not name rows of ${table.name}`);
  return loaded.get(key);
}

/** Decides the commands in the order of the queue, each on the results of those before it. */
function decideAll(
  commands: readonly Command<unknown>[],
  opened: Opened,
  assets: Assets,
  digests: RequestDigests,
  after: Instant,
): { verdicts: Verdict[]; decided: Decided } {
  const { book, rows, usedKeys, nowNs } = opened;
  const decider = createDecider(
    {
      book,
      assets,
      nowNs,
      row: (table, key) => rowOf(rows, table, key),
      usedKey: (text) => usedKeys.get(text),
      digests,
    },
    after,
  );
  const verdicts = commands.map(decider.decide);
  return { verdicts, decided: decider.decided() };
}

/** Writes all rows of all accepted commands: one statement per table, sent together. */
async function writeAll(connection: Connection, decided: Decided): Promise<void> {
  const { book } = decided;
  const statements: Promise<unknown>[] = [];
  // Keys first, on every node: a batch that waits for a key of another batch has not yet written rows that others wait for.
  if (decided.acceptedKeys.size > 0) statements.push(store.useKeys(connection, decided.acceptedKeys));
  if (book.entries.length > 0) {
    statements.push(store.insertEntries(connection, book.entries));
    statements.push(updateBalances(connection, book.changedRows()));
    const deltas = store.insertSystemDeltas(connection, book.entries);
    if (deltas !== undefined) statements.push(deltas);
  }
  // Async, so that a store that throws does not leave the promises of earlier statements unhandled.
  const writeRows = async (table: Table<unknown>): Promise<unknown> =>
    table.write!(connection, decided.writes.rowsOf(table), decided.batchId, decided.writes.actorsOf(table));
  for (const table of decided.writes.tables) statements.push(writeRows(table));
  await Promise.all(statements);
}

export type BatchResult = {
  readonly verdicts: readonly Verdict[];
  readonly lastInstant: Instant;
  /** Balances that the batch changed. */
  readonly changed: readonly BalanceKey[];
  /** What the batch read from the database, for the cache. */
  readonly seen: {
    readonly balances: readonly BalanceRow[];
    readonly rows: Rows;
    readonly nowNs: Instant;
    readonly heardAt: bigint;
  };
};

const isEmpty = ({ book, acceptedKeys, writes }: Decided): boolean =>
  book.entries.length === 0 && acceptedKeys.size === 0 && [...writes.tables].length === 0;

/** Runs the commands in one transaction. Throws MissingBalances or BatchFailure if it is not committed, or in doubt. */
export async function runBatch(
  database: Database,
  assets: Assets,
  commands: readonly Command<unknown>[],
  after: Instant,
  isPatient: boolean,
): Promise<BatchResult> {
  const needs = needsOf(commands);
  const connection = await database.reserve().catch((error: unknown) => {
    throw new BatchFailure(error);
  });
  let inDoubt: Doubt | undefined;
  try {
    const opened = await open(connection, needs, assets, isPatient);
    const { verdicts, decided } = decideAll(
      commands,
      opened,
      assets,
      requestDigests(connection.vault()),
      after,
    );
    requireLocked(opened);
    if (!verdicts.some(({ kind }) => kind === 'done' || kind === 'replay')) {
      await connection.query('rollback');
    } else if (isEmpty(decided)) {
      // Replays answer with what others committed, and some commands find their work done: the commit waits for the standby.
      await store.writeMarker(connection);
      await connection.commit();
    } else {
      // The commit is sent after the answers of all statements: a statement that failed on this side, before it was sent,
      // would not prevent a commit that is sent together with it.
      await writeAll(connection, decided);
      const { xid, timeline, pid } = opened;
      const evidence = store.evidenceOf(decided);
      inDoubt = { verdicts, timeline, pid, evidence, ended: (asked) => store.transactionOutcome(asked, xid) };
      await connection.commit();
    }
    const { locked: balances, rows, nowNs, heardAt } = opened;
    return {
      verdicts,
      lastInstant: decided.lastInstant,
      changed: decided.book.changedRows(),
      seen: { balances, rows, nowNs, heardAt },
    };
  } catch (error) {
    // Only a connection that still answers proves that the server has rolled back. Otherwise the error may be the last
    // message of a lost connection, and a commit that was sent is in doubt.
    const answers = await connection.query('rollback').then(
      () => true,
      () => false,
    );
    if (error instanceof MissingBalances) throw error;
    if (answers && !(error instanceof DatabaseUnavailable)) throw new BatchFailure(error);
    const lost = new DatabaseUnavailable(error);
    // No retry if the server did not answer in time: the retry would wait for the same time.
    throw new BatchFailure(lost, inDoubt, inDoubt === undefined && !(lost.cause instanceof NoAnswer));
  } finally {
    connection.release();
  }
}
