import type { Actor } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { newBatchId } from '../kernel/id.ts';
import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Book } from './book.ts';
import type { Command, IdempotencyKey, Outcome, RecordContext, Table, View, Write } from './command.ts';
import type { RequestDigests } from './digests.ts';
import { PartRefused } from './group.ts';
import { keyText } from './keys.ts';
import type { UsedKey } from './store.ts';

/** The outcome of one command of a batch. */
export type Verdict =
  | { readonly kind: 'done'; readonly answer: unknown }
  | {
      readonly kind: 'replay';
      readonly resourceId: string;
      readonly differs: readonly string[];
      readonly part?: number;
    }
  | { readonly kind: 'refused'; readonly problem: Problem | PartRefused }
  /** `decide` threw: a bug, which fails this command alone. */
  | { readonly kind: 'bug'; readonly error: unknown };

export type Rows = Map<Table<unknown>, Map<string, unknown>>;

/** Rows to be written, by table: the last row of each key, or all rows in order if the table is a log. */
export type Writes = {
  rowsOf(table: Table<unknown>): readonly unknown[];
  /** Who wrote the rows of a log. */
  actorsOf(table: Table<unknown>): readonly Actor[];
  readonly tables: Iterable<Table<unknown>>;
};

/** The data that the commands of a batch are decided on. */
export type Ground = {
  readonly book: Book;
  readonly assets: Assets;
  readonly nowNs: Instant;
  /** A row as it was before the batch. Throws for a table of which no command named a row. */
  row(table: Table<unknown>, key: string): unknown;
  usedKey(keyText: string): UsedKey | undefined;
  readonly digests: RequestDigests;
};

/** What the accepted commands write. */
export type Decided = {
  readonly batchId: string;
  readonly book: Book;
  readonly writes: Writes;
  /** A refused command does not use its key. */
  readonly acceptedKeys: ReadonlyMap<string, IdempotencyKey>;
  /** The time that the commands were decided at. */
  readonly nowNs: Instant;
  readonly lastInstant: Instant;
};

/** Decides commands one by one, each on the results of those before it. */
export type Decider = { decide(command: Command<unknown>): Verdict; decided(): Decided };

const CLOCK_AHEAD_MAX_NS = BigInt(LIMITS.clockAheadMaxMs) * NS_PER_MS;

const INSTANT_AHEAD_MAX_NS = BigInt(LIMITS.instantAheadMaxMs) * NS_PER_MS;

/**
 * Instants of a node continue from its last one, unless that is far ahead of the database's clock: otherwise one wrong clock
 * reading would put everything that follows into the future. The entries of each balance stay in order in any case.
 */
function follows(after: Instant, nowNs: Instant): boolean {
  return after >= nowNs && after - nowNs <= CLOCK_AHEAD_MAX_NS;
}

/**
 * The instant of a command follows the last entry of every balance that it moves. A balance that is far ahead would pull
 * every balance that it trades with ahead as well, so its commands are refused until an operator has repaired it.
 */
function tooFarAhead(instant: Instant, nowNs: Instant): Problem | undefined {
  if (instant - nowNs <= INSTANT_AHEAD_MAX_NS) return undefined;
  const last = formatInstant(instant - 1n);
  return new Problem(
    'unavailable',
    `A balance of this request has its last entry at ${last}, ahead of the clock. Nothing was executed; the operator must run "ferry repair-instants".`,
  );
}

type Stage = (write: Write, actor: Actor) => void;

type Log = { readonly rows: unknown[]; readonly actors: Actor[] };

const NO_WRITES: readonly Write[] = [];

/** What the audit log shows of the rows that a command writes, unless the command itself has appended it. */
function recordsOf(writes: readonly Write[], context: RecordContext): readonly Write[] {
  let records: Write[] | undefined;
  // Without destructuring and entries: nearly all writes of nearly all commands end here.
  for (let index = 0; index < writes.length; index += 1) {
    const { table, row } = writes[index]!;
    if (table.record === undefined) continue;
    // A row that is written under several keys is one change.
    if (writes.findIndex((one) => one.row === row) < index) continue;
    records ??= [];
    for (const made of table.record(row, context)) {
      if (!writes.some((one) => one.table === made.table && one.key === made.key)) records.push(made);
    }
  }
  return records ?? NO_WRITES;
}

export function createDecider(ground: Ground, after: Instant): Decider {
  const { book, nowNs, digests, assets } = ground;
  const batchId = newBatchId();
  const writes: Rows = new Map();
  const logs = new Map<Table<unknown>, Log>();
  const acceptedKeys = new Map<string, IdempotencyKey>();
  let cursor = follows(after, nowNs) ? after : nowNs - 1n;

  const balance: View['balance'] = (profileId, asset) => book.balance(profileId, asset);
  const row: View['row'] = <Row>(table: Table<Row>, key: string): Row | undefined =>
    (writes.get(table)?.get(key) ?? ground.row(table, key)) as Row | undefined;

  function stage({ table, key, row: written }: Write, actor: Actor): void {
    if (table.isLog === true) {
      const log = logs.get(table);
      if (log === undefined) logs.set(table, { rows: [written], actors: [actor] });
      else {
        log.rows.push(written);
        log.actors.push(actor);
      }
      return;
    }
    const staged = writes.get(table);
    if (staged === undefined) writes.set(table, new Map([[key, written]]));
    else staged.set(key, written);
  }

  function replayOf(key: IdempotencyKey, text: string): Verdict | undefined {
    const inBatch = acceptedKeys.get(text);
    const first = inBatch === undefined ? ground.usedKey(text) : { ...inBatch, request: digests.of(inBatch) };
    if (first === undefined) return undefined;
    const differs = digests.differing(first.request, key);
    return { kind: 'replay', resourceId: first.resourceId, differs };
  }

  function decideOne(command: Command<unknown>, staging: Stage): Verdict {
    const { key, actor } = command;
    const text = key === undefined ? undefined : keyText(key);
    if (text !== undefined) {
      const replay = replayOf(key!, text);
      if (replay !== undefined) return replay;
    }
    // The cursor does not follow a balance whose last entry is ahead of the clock: only commands on that balance are ahead.
    const floor = cursor + 1n;
    const instant = book.instantAfter(floor, command.balances);
    const ahead = tooFarAhead(instant, nowNs);
    if (ahead !== undefined) return { kind: 'refused', problem: ahead };
    const recordedAt = instant - nowNs <= CLOCK_AHEAD_MAX_NS ? instant : floor;
    const decision = command.decide({ now: nowNs, recordedAt, batchId, balance, row });
    if (!decision.accepted) return { kind: 'refused', problem: decision.problem };
    const problem = book.post(decision.causeId, instant, decision.postings);
    if (problem !== undefined) return { kind: 'refused', problem };
    for (const write of decision.writes) staging(write, actor);
    for (const write of recordsOf(decision.writes, { assets, recordedAt })) staging(write, actor);
    if (text !== undefined && decision.usesKey !== false) acceptedKeys.set(text, key!);
    cursor = floor;
    return { kind: 'done', answer: decision.answer };
  }

  /** Decides the parts in their order. The first one that is refused, or whose key was used otherwise, undoes those before. */
  function decideParts(parts: readonly Command<unknown>[]): Verdict {
    const staged: { readonly write: Write; readonly actor: Actor }[] = [];
    const outcomes: Outcome<unknown>[] = [];
    const start = cursor;
    const savepoint = book.savepoint();
    const undo = (): void => {
      savepoint.restore();
      cursor = start;
      for (const [index, { replayed }] of outcomes.entries()) {
        const { key } = parts[index]!;
        if (!replayed && key !== undefined) acceptedKeys.delete(keyText(key));
      }
    };
    try {
      for (const [part, command] of parts.entries()) {
        const verdict = decideOne(command, (write, actor) => void staged.push({ write, actor }));
        if (verdict.kind === 'done') outcomes.push({ replayed: false, answer: verdict.answer });
        else if (verdict.kind === 'replay' && verdict.differs.length === 0)
          outcomes.push({ replayed: true, resourceId: verdict.resourceId, differs: [] });
        else {
          undo();
          if (verdict.kind === 'replay') return { ...verdict, part };
          const { problem } = verdict as { problem: Problem };
          return { kind: 'refused', problem: new PartRefused(part, problem) };
        }
      }
      if (staged.some(({ write }) => write.table.isLog !== true))
        throw new Error('a part of a command writes rows that another part could read');
    } catch (error) {
      undo();
      throw error;
    } finally {
      savepoint.release();
    }
    for (const { write, actor } of staged) stage(write, actor);
    return { kind: 'done', answer: outcomes };
  }

  return {
    decide(command) {
      try {
        return command.parts === undefined ? decideOne(command, stage) : decideParts(command.parts);
      } catch (error) {
        return { kind: 'bug', error };
      }
    },
    decided: () => ({
      batchId,
      book,
      writes: {
        tables: [...logs.keys(), ...writes.keys()],
        rowsOf: (table) => logs.get(table)?.rows ?? [...writes.get(table)!.values()],
        actorsOf: (table) => logs.get(table)?.actors ?? [],
      },
      acceptedKeys,
      nowNs,
      lastInstant: cursor,
    }),
  };
}
