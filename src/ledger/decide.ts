import { newBatchId } from '../kernel/id.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import type { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Book } from './book.ts';
import type { Command, IdempotencyKey, Table, View, Write } from './command.ts';
import { keyText, type UsedKey } from './store.ts';

/** What became of one command of a committed batch. */
export type Verdict =
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'replay'; readonly resourceId: string; readonly request: string }
  | { readonly kind: 'refused'; readonly problem: Problem }
  /** `decide` threw: a fault of ours, which is this command's alone. */
  | { readonly kind: 'faulty'; readonly error: unknown };

export type Rows = Map<Table<unknown>, Map<string, unknown>>;

/** Rows to be written, for each table: by key, or one after the other where the table is a log. */
export type Writes = {
  rowsOf(table: Table<unknown>): readonly unknown[];
  readonly tables: Iterable<Table<unknown>>;
};

/** What the commands of a batch are decided on. */
export type Ground = {
  readonly book: Book;
  readonly nowNs: Instant;
  /** A row as it was before the batch. Throws for a table of which the commands named nothing. */
  row(table: Table<unknown>, key: string): unknown;
  usedKey(keyText: string): UsedKey | undefined;
  /** Why the command cannot be decided here, unless it is a replay. */
  obstacle?(command: Command<unknown>): Problem | undefined;
};

/** What the accepted commands want written. */
export type Decided = {
  readonly batchId: string;
  readonly book: Book;
  readonly writes: Writes;
  /** A refused command does not use up its key. */
  readonly acceptedKeys: ReadonlyMap<string, IdempotencyKey>;
  readonly lastInstant: Instant;
};

/** Decides commands one by one, each on what the ones before it left. */
export type Decider = { decide(command: Command<unknown>): Verdict; decided(): Decided };

const CLOCK_AHEAD_MAX_NS = BigInt(LIMITS.clockAheadMaxMs) * NS_PER_MS;

/**
 * Instants of a node go on from the last one; but not from one that lies far ahead, as after a clock that was wrong for a
 * moment: all that the node does would be in the future from then on. Each balance keeps its own order in any case.
 */
function follows(after: Instant, nowNs: Instant): boolean {
  return after >= nowNs && after - nowNs <= CLOCK_AHEAD_MAX_NS;
}

export function createDecider(ground: Ground, after: Instant): Decider {
  const { book } = ground;
  const batchId = newBatchId();
  const writes: Rows = new Map();
  const logs = new Map<Table<unknown>, unknown[]>();
  const acceptedKeys = new Map<string, IdempotencyKey>();
  let cursor = follows(after, ground.nowNs) ? after : ground.nowNs - 1n;

  const balance: View['balance'] = (profileId, asset) => book.balance(profileId, asset);
  const row: View['row'] = <Row>(table: Table<Row>, key: string): Row | undefined =>
    (writes.get(table)?.get(key) ?? ground.row(table, key)) as Row | undefined;

  function stage({ table, key, row: written }: Write): void {
    if (table.isLog === true) {
      const log = logs.get(table);
      if (log === undefined) logs.set(table, [written]);
      else log.push(written);
      return;
    }
    const staged = writes.get(table);
    if (staged === undefined) writes.set(table, new Map([[key, written]]));
    else staged.set(key, written);
  }

  function decideOne(command: Command<unknown>): Verdict {
    const text = command.key === undefined ? undefined : keyText(command.key);
    if (text !== undefined) {
      const first = acceptedKeys.get(text) ?? ground.usedKey(text);
      if (first !== undefined)
        return { kind: 'replay', resourceId: first.resourceId, request: first.request };
    }
    const obstacle = ground.obstacle?.(command);
    if (obstacle !== undefined) return { kind: 'refused', problem: obstacle };
    // A balance whose last entry lies ahead of the clock delays its own commands only: the cursor does not follow.
    const floor = cursor + 1n;
    const now = book.instantAfter(floor, command.balances);
    const decision = command.decide({ now, batchId, balance, row });
    if (!decision.accepted) return { kind: 'refused', problem: decision.problem };
    const problem = book.post(decision.causeId, now, decision.postings);
    if (problem !== undefined) return { kind: 'refused', problem };
    for (const write of decision.writes) stage(write);
    if (text !== undefined) acceptedKeys.set(text, command.key!);
    cursor = floor;
    return { kind: 'done', answer: decision.answer };
  }

  return {
    decide(command) {
      try {
        return decideOne(command);
      } catch (error) {
        return { kind: 'faulty', error };
      }
    },
    decided: () => ({
      batchId,
      book,
      writes: {
        tables: [...logs.keys(), ...writes.keys()],
        rowsOf: (table) => logs.get(table) ?? [...writes.get(table)!.values()],
      },
      acceptedKeys,
      lastInstant: cursor,
    }),
  };
}
