import type { Connection, Database } from '../database/database.ts';
import { DatabaseAway } from '../database/failure.ts';
import type { Assets } from '../kernel/asset.ts';
import { newBatchId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Problem, unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { type BalanceRow, type Book, balanceKeyText, createBook } from './book.ts';
import type { BalanceKey, Command, IdempotencyKey, Table, View } from './command.ts';
import * as store from './store.ts';

/** What became of one command of a committed batch. */
export type Verdict =
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'replay'; readonly resourceId: string; readonly request: string }
  | { readonly kind: 'refused'; readonly problem: Problem }
  /** `decide` threw: a fault of ours, which is this command's alone. */
  | { readonly kind: 'faulty'; readonly error: unknown };

/** The transaction did not end well. With `inDoubt`, the commit was sent and its answer never came. */
export class BatchFailure extends Error {
  readonly inDoubt:
    | { readonly xid: string; readonly verdicts: readonly Verdict[]; readonly evidence: store.Evidence }
    | undefined;
  constructor(cause: unknown, inDoubt?: BatchFailure['inDoubt']) {
    super('the batch was not committed', { cause });
    this.inDoubt = inDoubt;
  }
}

export class MissingBalances extends Error {
  readonly keys: readonly BalanceKey[];
  constructor(keys: readonly BalanceKey[]) {
    super('balance rows are missing');
    this.keys = keys;
  }
}

type Rows = Map<Table<unknown>, Map<string, unknown>>;

/** What the batch needs, gathered once: distinct keys, balances and rows. */
type Needs = {
  readonly keys: Map<string, IdempotencyKey>;
  readonly balances: Map<string, BalanceKey>;
  readonly rows: Map<Table<unknown>, Set<string>>;
};

function needsOf(commands: readonly Command<unknown>[]): Needs {
  const needs: Needs = { keys: new Map(), balances: new Map(), rows: new Map() };
  for (const command of commands) {
    if (command.key !== undefined) {
      const text = store.keyText(command.key);
      if (!needs.keys.has(text)) needs.keys.set(text, command.key);
    }
    for (const key of command.balances) needs.balances.set(balanceKeyText(key.profileId, key.asset), key);
    for (const { table, key } of command.reads ?? []) {
      const wanted = needs.rows.get(table);
      if (wanted === undefined) needs.rows.set(table, new Set([key]));
      else wanted.add(key);
    }
  }
  return needs;
}

type Opened = {
  readonly usedKeys: ReadonlyMap<string, store.UsedKey>;
  readonly book: Book;
  /** Rows of the book that the database does not have: zero, and not locked. */
  readonly missing: readonly BalanceRow[];
  /** Balances that another session has locked, when the batch does not wait for them. */
  readonly busy: ReadonlySet<string>;
  readonly rows: Rows;
  readonly nowNs: Instant;
  readonly xid: string;
};

const NO_KEYS: ReadonlyMap<string, store.UsedKey> = new Map();

/**
 * One round trip: balances, then other rows, in the same order on every node. When every lock is held, the keys: what
 * another node did under them to these balances is seen then; and the clock last, so that "before the end of the
 * window" is decided by a time at which nobody else can act.
 */
async function open(connection: Connection, needs: Needs, assets: Assets, waits: boolean): Promise<Opened> {
  const balances = [...needs.balances.values()];
  // Tables that lock their rows are loaded in one order on every node, too.
  const tables = [...needs.rows].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
  const [, , locked, loaded, usedKeys, clock] = await Promise.all([
    connection.query('begin'),
    waits ? undefined : connection.query(`set local lock_timeout = ${LIMITS.lockTimeoutImpatientMs}`),
    balances.length > 0 ? store.lockBalances(connection, balances, waits) : [],
    Promise.all(tables.map(async ([table, wanted]) => table.load!(connection, [...wanted]))),
    needs.keys.size > 0 ? store.usedKeys(connection, needs.keys) : NO_KEYS,
    store.clockAndTransaction(connection),
  ]);
  const absent = locked.length < balances.length ? missingRows(needs, locked) : [];
  // Absent although nobody waited: either there is no such row, or another session has it locked.
  const busy =
    waits || absent.length === 0 ? new Set<string>() : await store.presentBalances(connection, absent);
  const missing = absent.filter((row) => !busy.has(balanceKeyText(row.profileId, row.asset)));
  const rows: Rows = new Map(tables.map(([table], index) => [table, loaded[index]!]));
  const book = createBook([...locked, ...missing], assets);
  return { usedKeys, book, missing, busy, rows, nowNs: clock.nowNs, xid: clock.xid };
}

/**
 * Balances that never moved have no row. They are decided on as zero; only if an accepted command moves one is the row
 * made, and the batch started anew with it locked. So refusals, whatever ids they name, leave nothing behind.
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

type Decided = {
  readonly batchId: string;
  readonly verdicts: Verdict[];
  readonly writes: Rows;
  /** A refused command does not use up its key. */
  readonly acceptedKeys: ReadonlyMap<string, IdempotencyKey>;
  readonly lastInstant: Instant;
};

/** Each command in arrival order, on what the ones before it left. */
function decideAll(commands: readonly Command<unknown>[], opened: Opened, after: Instant): Decided {
  const { book, busy, rows, usedKeys } = opened;
  const writes: Rows = new Map();
  const accepted = new Map<string, IdempotencyKey>();
  const batchId = newBatchId();
  let cursor = after >= opened.nowNs ? after : opened.nowNs - 1n;

  const view = (now: Instant): View => ({
    now,
    batchId,
    balance: (profileId, asset) => book.balance(profileId, asset),
    row: <Row>(table: Table<Row>, key: string): Row | undefined => {
      const written = writes.get(table)?.get(key);
      if (written !== undefined) return written as Row;
      const loaded = rows.get(table);
      if (loaded === undefined) throw new Error(`the command did not name rows of ${table.name}`);
      return loaded.get(key) as Row | undefined;
    },
  });

  const decideOne = (command: Command<unknown>): Verdict => {
    const keyText = command.key === undefined ? undefined : store.keyText(command.key);
    if (keyText !== undefined) {
      const first = accepted.get(keyText) ?? usedKeys.get(keyText);
      if (first !== undefined)
        return { kind: 'replay', resourceId: first.resourceId, request: first.request };
    }
    if (busy.size > 0 && command.balances.some((key) => busy.has(balanceKeyText(key.profileId, key.asset)))) {
      return { kind: 'refused', problem: unavailable('The balances are busy; nothing was done.') };
    }
    // A balance whose last entry lies ahead of the clock delays its own commands only: the cursor does not follow.
    const floor = cursor + 1n;
    const now = book.instantAfter(floor, command.balances);
    const decision = command.decide(view(now));
    if (!decision.accepted) return { kind: 'refused', problem: decision.problem };
    const problem = book.post(decision.causeId, now, decision.postings);
    if (problem !== undefined) return { kind: 'refused', problem };
    for (const { table, key, row } of decision.writes) {
      const staged = writes.get(table);
      if (staged === undefined) writes.set(table, new Map([[key, row]]));
      else staged.set(key, row);
    }
    if (keyText !== undefined) accepted.set(keyText, command.key!);
    cursor = floor;
    return { kind: 'done', answer: decision.answer };
  };

  const verdicts = commands.map((command): Verdict => {
    try {
      return decideOne(command);
    } catch (error) {
      return { kind: 'faulty', error };
    }
  });
  return { batchId, verdicts, writes, acceptedKeys: accepted, lastInstant: cursor };
}

/** All rows of all accepted commands: one statement per table, sent together. */
async function writeAll(connection: Connection, book: Book, decided: Decided): Promise<void> {
  const statements: Promise<unknown>[] = [];
  // First on every node: whoever waits for a key of another batch has written nothing that others wait for.
  if (decided.acceptedKeys.size > 0) statements.push(store.useKeys(connection, decided.acceptedKeys));
  if (book.entries.length > 0) {
    statements.push(store.insertEntries(connection, book.entries));
    statements.push(store.updateBalances(connection, book.changedRows()));
    statements.push(store.insertSystemDeltas(connection, book.entries));
  }
  // Inside an async function: a store that throws must not leave the statements before it without anybody who waits.
  const writeRows = async (table: Table<unknown>, rows: Map<string, unknown>): Promise<unknown> =>
    table.write!(connection, [...rows.values()], decided.batchId);
  for (const [table, rows] of decided.writes) statements.push(writeRows(table, rows));
  await Promise.all(statements);
}

export type BatchResult = {
  readonly verdicts: readonly Verdict[];
  readonly lastInstant: Instant;
  /** Balances that are now other than they were. */
  readonly changed: readonly BalanceKey[];
};

function firstOf<Value>(map: ReadonlyMap<string, Value>): Value | undefined {
  for (const value of map.values()) return value;
  return undefined;
}

/** One transaction for all the commands. Throws MissingBalances or BatchFailure; then nothing is committed, or in doubt. */
export async function runBatch(
  database: Database,
  assets: Assets,
  commands: readonly Command<unknown>[],
  after: Instant,
  waits: boolean,
  /** Called when it is the database's turn again, with the writes. */
  decidedAndSent: () => void = () => undefined,
): Promise<BatchResult> {
  const needs = needsOf(commands);
  const connection = await database.reserve().catch((error: unknown) => {
    throw new BatchFailure(error);
  });
  let inDoubt: BatchFailure['inDoubt'];
  try {
    const opened = await open(connection, needs, assets, waits);
    const decided = decideAll(commands, opened, after);
    requireLocked(opened);
    if (decided.verdicts.some((verdict) => verdict.kind === 'done')) {
      // The commit waits for the answers of all statements: one that failed on this side, before it was sent, would
      // not stop a commit that went out together with it.
      const written = writeAll(connection, opened.book, decided);
      decidedAndSent();
      await written;
      const evidence = { entry: opened.book.entries[0], key: firstOf(decided.acceptedKeys) };
      inDoubt = { xid: opened.xid, verdicts: decided.verdicts, evidence };
      await connection.commit();
    } else {
      await connection.query('rollback');
    }
    const { verdicts, lastInstant } = decided;
    return { verdicts, lastInstant, changed: opened.book.changedRows() };
  } catch (error) {
    // Only a connection that still answers proves that the server refused: an error may also be its last word, and
    // a commit that ended so is in doubt.
    const answers = await connection.query('rollback').then(
      () => true,
      () => false,
    );
    if (error instanceof MissingBalances) throw error;
    throw new BatchFailure(answers ? error : new DatabaseAway(error), inDoubt);
  } finally {
    connection.release();
  }
}
