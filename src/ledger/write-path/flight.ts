import { randomBytes } from 'node:crypto';
import type { Connection, Database } from '../../database/database.ts';
import { DatabaseUnavailable } from '../../database/failure.ts';
import type { Assets } from '../../kernel/asset.ts';
import type { Instant } from '../../kernel/instant.ts';
import { changeBalances } from '../balance-rows.ts';
import { createBook } from '../book.ts';
import type { BalanceKey, Command, Table } from '../command.ts';
import { createDecider, type Decided, type Verdict } from '../decide.ts';
import { requestDigests } from '../digests.ts';
import { keyText } from '../keys.ts';
import * as store from '../store.ts';
import { BatchFailure, type Doubt, readsOf } from './batch.ts';
import type { Cache } from './cache.ts';

/**
 * A batch of the optimistic lane. It is decided on cached balances, which include the effects of batches still in flight,
 * and sent as a whole: the statements that confirm the cached rows, all new rows, and the commit. So the database never
 * waits for the node during a transaction, and has already received the next one when it commits. If the cache was stale,
 * nothing is written, and the commands are decided again on locked rows.
 */

/** A connection whose end can be detected (see `markSession`), the timeline of its server, and its process id there. */
type Marked = { readonly mark: bigint; readonly timeline: string; readonly pid: number };
export type Session = Marked & { readonly connection: Connection };

const marks = new WeakMap<object, Marked>();

export async function openSession(database: Database): Promise<Session> {
  const connection = await database.reserve();
  let marked = marks.get(connection.session);
  if (marked === undefined) {
    const mark = randomBytes(8).readBigInt64BE();
    try {
      marked = { mark, ...(await store.markSession(connection, mark)) };
    } catch (error) {
      connection.discard();
      throw error;
    }
    marks.set(connection.session, marked);
  }
  return { connection, ...marked };
}

export type Flight = {
  /** One for each command; undefined for commands that must be decided on locked rows. */
  readonly verdicts: readonly (Verdict | undefined)[];
  readonly lastInstant: Instant;
  readonly changed: readonly BalanceKey[];
  /** Rejects with a BatchFailure if nothing is committed, or the commit is in doubt. Undefined if nothing was sent. */
  readonly committed: Promise<void> | undefined;
};

function wasUsed({ key, parts }: Command<unknown>, cache: Cache): boolean {
  if (parts !== undefined) return parts.some((part) => wasUsed(part, cache));
  return key !== undefined && cache.wasUsed(keyText(key));
}

function isCached(command: Command<unknown>, cache: Cache): boolean {
  if (wasUsed(command, cache)) return false;
  for (const { profileId, asset } of command.balances) {
    if (cache.balance(profileId, asset) === undefined) return false;
  }
  for (const { table, key } of command.reads ?? []) {
    if (cache.row(table, key) === undefined) return false;
  }
  return true;
}

type Reads = ReadonlyMap<Table<unknown>, ReadonlySet<string>>;

type Answers = {
  readonly changed: Promise<{ now_ns: bigint }[]>;
  readonly commit: Promise<unknown>;
};

/** Sends the whole transaction. Throws before the commit is sent if a row cannot be sent. */
function sendAll(
  { connection }: Session,
  { book, acceptedKeys, writes, batchId, nowNs }: Decided,
  reads: Reads,
  sent: Promise<unknown>[],
): Answers {
  sent.push(connection.query('begin'));
  // Balances first, in the lock order of all nodes, then keys. On a cluster, Citus orders the shards: two nodes that use the same balances
  // of several shards may deadlock, which a server resolves, and the batch is decided again.
  const { shards } = connection;
  const packed = shards && [
    ...store.packEntries(shards, book.entries),
    ...[...writes.tables].flatMap((table) => table.pack?.(shards, writes.rowsOf(table)) ?? []),
  ];
  const changed = changeBalances(connection, book.changedRows(), book.before, nowNs, packed);
  sent.push(changed);
  for (const [table, keys] of reads) sent.push(table.confirm!(connection, [...keys]));
  if (acceptedKeys.size > 0) sent.push(store.useKeys(connection, acceptedKeys));
  if (packed === undefined) sent.push(store.insertEntries(connection, book.entries));
  const deltas = store.insertSystemDeltas(connection, book.entries);
  if (deltas !== undefined) sent.push(deltas);
  for (const table of writes.tables) {
    if (packed !== undefined && table.pack !== undefined) continue;
    if (table.sendsAtOnce !== true)
      throw new Error(`rows of ${table.name} cannot be written by the optimistic lane`);
    sent.push(table.write!(connection, writes.rowsOf(table), batchId, writes.actorsOf(table)));
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
    // After a failed statement the server skips the rest. If only its answer could not be read here, the commit succeeded.
    const isCommitted = await commit?.then(
      () => true,
      () => false,
    );
    if (isCommitted === true) return requireConfirmed();
    // The rollback is sent after all answers: the server would skip it behind a failed statement, and it would prove nothing.
    await Promise.allSettled(statements);
    // Only a connection that still answers proves that the server has rolled back.
    const answers = await session.connection.query('rollback').then(
      () => true,
      () => false,
    );
    throw answers ? new BatchFailure(error) : new BatchFailure(new DatabaseUnavailable(error), doubt);
  }
  requireConfirmed();
}

/** Decides as many of the commands as it can and sends them, all before it returns. */
export function sendFlight(
  session: Session,
  cache: Cache,
  assets: Assets,
  commands: readonly Command<unknown>[],
  after: Instant,
  /** The number of this flight. */
  flight: number,
): Flight {
  const book = createBook(cache.balance, assets);
  const nowNs = cache.now();
  const digests = requestDigests(session.connection.vault());
  const ground = { book, assets, nowNs: nowNs ?? after, row: cache.row, usedKey: () => undefined, digests };
  const decider = createDecider(ground, after);
  const taken: Command<unknown>[] = [];
  const verdicts = commands.map((command): Verdict | undefined => {
    if (nowNs === undefined || !isCached(command, cache)) return undefined;
    const verdict = decider.decide(command);
    // Never refuse from the cache; decide again against the database.
    if (verdict.kind === 'refused' || verdict.kind === 'bug') return undefined;
    taken.push(command);
    return verdict;
  });
  const decided = decider.decided();
  const changed = book.changedRows();
  const { lastInstant } = decided;
  // Without an entry, the outcome of a commit in doubt could not be found out.
  if (book.entries.length === 0) {
    return { verdicts: commands.map(() => undefined), lastInstant: after, changed, committed: undefined };
  }
  for (const text of decided.acceptedKeys.keys()) cache.learnKey(text);
  for (const row of changed) row.flight = flight;
  const reads = readsOf(taken);
  const doubt: Doubt = {
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
    evidence: store.evidenceOf(decided),
    timeline: session.timeline,
    pid: session.pid,
    ended: async (database) =>
      (await store.sessionHasEnded(database, session.mark)) ? 'committed' : 'in progress',
  };
  const forget = (): void => {
    cache.forgetBalances(changed);
    for (const [table, keys] of reads) cache.forgetRows(table, keys);
  };
  const sent: Promise<unknown>[] = [];
  let answers: Answers | undefined;
  try {
    answers = sendAll(session, decided, reads, sent);
    answers.changed.then(
      ([row]) => cache.learnTime(row!.now_ns, process.hrtime.bigint()),
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
