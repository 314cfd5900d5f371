import type { Database } from '../../database/database.ts';
import { Problem, unavailable } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import type { Command, Outcome } from '../command.ts';
import type { Verdict } from '../decide.ts';
import { keysOf, sizeOf } from '../group.ts';
import type { WritePathObserver } from './observer.ts';

/** How many commands were submitted, and how many of their callers have been answered. */
export type Progress = { submitted: number; answered: number };

/** A command in a queue, with its caller. */
export type Waiting = {
  readonly command: Command<unknown>;
  readonly progress: Progress;
  resolve(outcome: Outcome<unknown>): void;
  reject(error: unknown): void;
};

/** How many commands a second batch has at least. On a cluster a batch has a fixed cost on every server: the more there are, the larger. */
export function secondBatchMin(database: Pick<Database, 'shards'>): number {
  const shards = database.shards();
  if (shards === undefined) return LIMITS.secondBatchCommandsMin;
  return Math.min(LIMITS.secondBatchPerServerMin * shards.servers, LIMITS.batchCommandsMax);
}

/**
 * While the database executes one batch, the next one is prepared and sent, so that neither side waits for the other; but
 * only if enough commands are queued to share the fixed cost of a batch. The more batches wait for the database already, the
 * larger the next one has to be: it could not start any earlier.
 */
export function isWorthABatch(
  queued: number,
  batchesInFlight: number,
  batchesMax: number,
  secondMin: number,
): boolean {
  if (batchesInFlight === 0) return queued > 0;
  const queuedMin = secondMin * 2 ** (batchesInFlight - 1);
  return batchesInFlight < batchesMax && queued >= queuedMin;
}

/** How many commands these are; one with parts counts as many. */
export function sizeOfAll(batch: readonly Waiting[]): number {
  let size = 0;
  for (const { command } of batch) size += sizeOf(command);
  return size;
}

/**
 * The oldest command of each customer, then the second oldest of each, and so on. After a command with parts, the customer is
 * left out as many times. The service's own commands are one line.
 */
function inTurn(queue: readonly Waiting[]): Waiting[] {
  const lines = new Map<string | undefined, { readonly waiting: Waiting[]; next: number; turn: number }>();
  for (const one of queue) {
    const { customerId } = one.command;
    const line = lines.get(customerId);
    if (line === undefined) lines.set(customerId, { waiting: [one], next: 0, turn: 0 });
    else line.waiting.push(one);
  }
  const ordered: Waiting[] = [];
  for (let turn = 0; ordered.length < queue.length; turn += 1) {
    for (const line of lines.values()) {
      if (line.turn > turn || line.next === line.waiting.length) continue;
      const one = line.waiting[line.next]!;
      ordered.push(one);
      line.next += 1;
      line.turn += sizeOf(one.command);
    }
  }
  return ordered;
}

/** How many of the first elements of the queue fit into a batch. */
function fitting(queue: readonly Waiting[], sizeMax: number): number {
  let balances = 0;
  let size = 0;
  let count = 0;
  for (const { command } of queue) {
    size += sizeOf(command);
    balances += command.balances.length;
    if (count > 0 && (size > sizeMax || balances > LIMITS.batchBalancesMax)) break;
    count += 1;
  }
  return count;
}

/**
 * As many commands as fit into a batch: oldest first or, if more are queued than fit, those of all customers in turn, so that
 * no customer waits for the whole queue of another one. If no batch is in flight, only half of the commands, provided that
 * the rest is enough for another batch: two alternating batches keep both the node and the database busy.
 */
export function takeBatch(queue: Waiting[], batchesInFlight: number, secondMin: number): Waiting[] {
  const total = sizeOfAll(queue);
  const half = batchesInFlight === 0 && total >= 2 * secondMin;
  const sizeMax = Math.min(half ? Math.ceil(total / 2) : total, LIMITS.batchCommandsMax);
  if (fitting(queue, LIMITS.batchCommandsMax) === queue.length)
    return queue.splice(0, fitting(queue, sizeMax));
  const ordered = inTurn(queue);
  const batch = ordered.slice(0, fitting(ordered, sizeMax));
  const taken = new Set(batch);
  const left = queue.filter((waiting) => !taken.has(waiting));
  queue.length = 0;
  for (const waiting of left) queue.push(waiting);
  return batch;
}

/** Commands that wait for a batch. */
export type CommandQueue = {
  push(waiting: readonly Waiting[]): void;
  /** How many commands wait; one with parts counts as many. */
  readonly size: number;
  take(batchesInFlight: number, secondMin: number): Waiting[];
  takeAll(): Waiting[];
};

export function createCommandQueue(): CommandQueue {
  const queue: Waiting[] = [];
  let size = 0;
  return {
    push(waiting) {
      for (const one of waiting) queue.push(one);
      size += sizeOfAll(waiting);
    },
    get size() {
      return size;
    },
    take(batchesInFlight, secondMin) {
      const batch = takeBatch(queue, batchesInFlight, secondMin);
      size -= sizeOfAll(batch);
      return batch;
    },
    takeAll() {
      size = 0;
      return queue.splice(0);
    },
  };
}

/** Answers every caller of a committed batch. */
export function answerAll(
  batch: readonly Waiting[],
  verdicts: readonly Verdict[],
  observer: Pick<WritePathObserver, 'trouble'>,
): void {
  for (const [index, waiting] of batch.entries()) {
    const verdict = verdicts[index]!;
    waiting.progress.answered += sizeOf(waiting.command);
    if (verdict.kind === 'done') waiting.resolve({ replayed: false, answer: verdict.answer });
    else if (verdict.kind === 'replay') {
      const { resourceId, differs, part } = verdict;
      waiting.resolve({ replayed: true, resourceId, differs, ...(part !== undefined && { part }) });
    } else if (verdict.kind === 'refused') waiting.reject(verdict.problem);
    else {
      observer.trouble('bug', verdict.error);
      waiting.reject(verdict.error);
    }
  }
}

export function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const waiting of batch) {
    waiting.progress.answered += sizeOf(waiting.command);
    waiting.reject(error);
  }
}

/** A retry is safe only with a ref_id. Without one there is no Retry-After header, which clients might follow. */
export function rejectUnknown(batch: readonly Waiting[]): void {
  const detail =
    'The connection to the database was lost during the commit, and the outcome is not known yet.';
  for (const { command, progress, reject } of batch) {
    progress.answered += sizeOf(command);
    reject(
      keysOf(command).length === 0
        ? new Problem(
            'unavailable',
            `${detail} The request had no ref_id: check whether it was executed before you repeat it.`,
          )
        : unavailable(`${detail} Retry with the same ref_id.`),
    );
  }
}
