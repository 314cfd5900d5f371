import { randomBytes } from 'node:crypto';
import type { Connection, Database } from '../database/database.ts';
import { DatabaseUnavailable } from '../database/failure.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { BatchFailure, type Doubt, readsOf } from './batch.ts';
import { createBook } from './book.ts';
import type { BalanceKey, Command, Table } from './command.ts';
import { createDecider, type Decided, type Verdict } from './decide.ts';
import type { Memory } from './memory.ts';
import * as store from './store.ts';

/**
 * Batches that do not ask first. They are decided on what the node remembers of the batches before, also of those that
 * are still under way, and sent whole: what they were decided on, to be confirmed; all rows; the commit. So the
 * database never waits for the node in the middle of a transaction, and has the next one at hand when it has committed.
 * Where something is not as it was remembered, nothing is written, and the commands are decided on what is there.
 */

/** A connection whose end can be detected (see `markSession`), and the timeline of its server. */
type Marked = { readonly mark: bigint; readonly timeline: string };
export type Session = Marked & { readonly connection: Connection };

const marks = new WeakMap<object, Marked>();

export async function openSession(database: Database): Promise<Session> {
  const connection = await database.reserve();
  let marked = marks.get(connection.session);
  if (marked === undefined) {
    const mark = randomBytes(8).readBigInt64BE();
    try {
      marked = { mark, timeline: await store.markSession(connection, mark) };
    } catch (error) {
      connection.discard();
      throw error;
    }
    marks.set(connection.session, marked);
  }
  return { connection, ...marked };
}

/** A batch that was sent. */
export type Flight = {
  /** One for each command; undefined for those that can only be decided on what the database says. */
  readonly verdicts: readonly (Verdict | undefined)[];
  readonly lastInstant: Instant;
  readonly changed: readonly BalanceKey[];
  /** Rejects with a BatchFailure: nothing is committed then, or in doubt. Undefined when there was nothing to send. */
  readonly committed: Promise<void> | undefined;
};

function isRemembered(command: Command<unknown>, memory: Memory): boolean {
  if (command.key !== undefined && memory.wasUsed(store.keyText(command.key))) return false;
  for (const { profileId, asset } of command.balances) {
    if (memory.balance(profileId, asset) === undefined) return false;
  }
  for (const { table, key } of command.reads ?? []) {
    if (memory.row(table, key) === undefined) return false;
  }
  return true;
}

type Reads = ReadonlyMap<Table<unknown>, ReadonlySet<string>>;

type Answers = {
  readonly changed: Promise<{ now_ns: bigint }[]>;
  readonly commit: Promise<unknown>;
};

/** The whole transaction, in one flight. Throws, without having sent the commit, what cannot be sent. */
function sendAll(
  { connection }: Session,
  { book, acceptedKeys, writes, batchId, nowNs }: Decided,
  reads: Reads,
  sent: Promise<unknown>[],
): Answers {
  sent.push(connection.query('begin'));
  // The locks first, and in the same order as everybody; then the keys: as all nodes do.
  const changed = store.changeBalances(connection, book.changedRows(), book.before, nowNs);
  sent.push(changed);
  for (const [table, keys] of reads) sent.push(table.confirm!(connection, [...keys]));
  if (acceptedKeys.size > 0) sent.push(store.useKeys(connection, acceptedKeys));
  sent.push(store.insertEntries(connection, book.entries));
  const deltas = store.insertSystemDeltas(connection, book.entries);
  if (deltas !== undefined) sent.push(deltas);
  for (const table of writes.tables) {
    if (table.sendsAtOnce !== true) throw new Error(`rows of ${table.name} cannot be written ahead`);
    sent.push(table.write!(connection, writes.rowsOf(table), batchId));
  }
  const commit = connection.query('commit');
  sent.push(commit);
  return { changed, commit };
}

async function conclude(
  session: Session,
  statements: readonly Promise<unknown>[],
  commit: Promise<unknown> | undefined,
  doubt: Doubt,
): Promise<void> {
  const requireConfirmed = (): void => {
    if (session.connection.isOpen()) return;
    throw new BatchFailure(new DatabaseUnavailable(new Error('the connection ended with the commit')), doubt);
  };
  try {
    await Promise.all(statements);
  } catch (error) {
    // A statement that failed at the server lets none come after it. One whose answer could only not be read here does.
    const isCommitted = await commit?.then(
      () => true,
      () => false,
    );
    if (isCommitted === true) return requireConfirmed();
    // By itself: together with statements that fail it would be skipped like them, and prove nothing.
    await Promise.allSettled(statements);
    // Only a connection that still answers proves that the server refused.
    const answers = await session.connection.query('rollback').then(
      () => true,
      () => false,
    );
    throw answers ? new BatchFailure(error) : new BatchFailure(new DatabaseUnavailable(error), doubt);
  }
  requireConfirmed();
}

/** Decides all commands that it can, and sends them, before it comes back. */
export function sendAhead(
  session: Session,
  memory: Memory,
  assets: Assets,
  commands: readonly Command<unknown>[],
  after: Instant,
  /** Which flight this is. */
  flight: number,
): Flight {
  const book = createBook(memory.balance, assets);
  const nowNs = memory.now();
  const ground = { book, nowNs: nowNs ?? after, row: memory.row, usedKey: () => undefined };
  const decider = createDecider(ground, after);
  const taken: Command<unknown>[] = [];
  const verdicts = commands.map((command): Verdict | undefined => {
    if (nowNs === undefined || !isRemembered(command, memory)) return undefined;
    const verdict = decider.decide(command);
    // Whoever is refused is so by what is there, not by what is remembered.
    if (verdict.kind === 'refused' || verdict.kind === 'faulty') return undefined;
    taken.push(command);
    return verdict;
  });
  const decided = decider.decided();
  const changed = book.changedRows();
  const { lastInstant } = decided;
  // Without an entry there would be nothing to tell a commit in doubt by.
  if (book.entries.length === 0) {
    return { verdicts: commands.map(() => undefined), lastInstant: after, changed, committed: undefined };
  }
  for (const text of decided.acceptedKeys.keys()) memory.learnKey(text);
  for (const row of changed) row.flight = flight;
  const reads = readsOf(taken);
  const doubt: Doubt = {
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
    evidence: store.evidenceOf(decided),
    timeline: session.timeline,
    ended: async (database) =>
      (await store.sessionHasEnded(database, session.mark)) ? 'committed' : 'in progress',
  };
  const forget = (): void => {
    memory.forgetBalances(changed);
    for (const [table, keys] of reads) memory.forgetRows(table, keys);
  };
  const sent: Promise<unknown>[] = [];
  let answers: Answers | undefined;
  try {
    answers = sendAll(session, decided, reads, sent);
    answers.changed.then(
      ([row]) => memory.learnTime(row!.now_ns, process.hrtime.bigint()),
      () => undefined,
    );
  } catch (error) {
    sent.push(session.connection.query('rollback'), Promise.reject(error));
  }
  const committed = conclude(session, sent, answers?.commit, doubt).catch((error: unknown) => {
    forget();
    throw error;
  });
  return { verdicts, lastInstant, changed, committed };
}
