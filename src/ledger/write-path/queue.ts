import { Problem, unavailable } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import type { Command, Outcome } from '../command.ts';
import type { Verdict } from '../decide.ts';
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

/**
 * While the database executes one batch, the next one is prepared and sent, so that neither side waits for the other; but
 * only if enough commands are queued to share the fixed cost of a batch.
 */
export function isWorthABatch(queued: number, batchesInFlight: number, batchesMax: number): boolean {
  if (batchesInFlight === 0) return queued > 0;
  return queued >= LIMITS.secondBatchCommandsMin && batchesInFlight < batchesMax;
}

/** The oldest command of each customer, then the second oldest of each, and so on. The service's own commands are one line. */
function inTurn(queue: readonly Waiting[]): Waiting[] {
  const lines = new Map<string | undefined, Waiting[]>();
  for (const waiting of queue) {
    const { customerId } = waiting.command;
    const line = lines.get(customerId);
    if (line === undefined) lines.set(customerId, [waiting]);
    else line.push(waiting);
  }
  const ordered: Waiting[] = [];
  for (let place = 0; ordered.length < queue.length; place += 1)
    for (const line of lines.values()) if (place < line.length) ordered.push(line[place]!);
  return ordered;
}

/** How many of the first commands fit into a batch. */
function fitting(queue: readonly Waiting[], countMax: number): number {
  let balances = 0;
  let count = 0;
  while (count < countMax) {
    balances += queue[count]!.command.balances.length;
    if (count > 0 && balances > LIMITS.batchBalancesMax) break;
    count += 1;
  }
  return count;
}

/**
 * As many commands as fit into a batch: oldest first or, if more are queued than fit, those of all customers in turn, so that
 * no customer waits for the whole queue of another one. If no batch is in flight, only half of the commands, provided that
 * the rest is enough for another batch: two alternating batches keep both the node and the database busy.
 */
export function takeBatch(queue: Waiting[], batchesInFlight: number): Waiting[] {
  const half = batchesInFlight === 0 && queue.length >= 2 * LIMITS.secondBatchCommandsMin;
  const countMax = Math.min(half ? Math.ceil(queue.length / 2) : queue.length, LIMITS.batchCommandsMax);
  const count = fitting(queue, countMax);
  if (queue.length <= LIMITS.batchCommandsMax && count === countMax) return queue.splice(0, count);
  const ordered = inTurn(queue);
  const batch = ordered.slice(0, fitting(ordered, countMax));
  const taken = new Set(batch);
  const left = queue.filter((waiting) => !taken.has(waiting));
  queue.length = 0;
  for (const waiting of left) queue.push(waiting);
  return batch;
}

/** Answers every caller of a committed batch. */
export function answerAll(
  batch: readonly Waiting[],
  verdicts: readonly Verdict[],
  observer: Pick<WritePathObserver, 'trouble'>,
): void {
  for (const [index, waiting] of batch.entries()) {
    const verdict = verdicts[index]!;
    waiting.progress.answered += 1;
    if (verdict.kind === 'done') waiting.resolve({ replayed: false, answer: verdict.answer });
    else if (verdict.kind === 'replay')
      waiting.resolve({ replayed: true, resourceId: verdict.resourceId, differs: verdict.differs });
    else if (verdict.kind === 'refused') waiting.reject(verdict.problem);
    else {
      observer.trouble('bug', verdict.error);
      waiting.reject(verdict.error);
    }
  }
}

export function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const waiting of batch) {
    waiting.progress.answered += 1;
    waiting.reject(error);
  }
}

/** A retry is safe only with a ref_id. Without one there is no Retry-After header, which clients might follow. */
export function rejectUnknown(batch: readonly Waiting[]): void {
  const detail =
    'The connection to the database was lost during the commit, and the outcome is not known yet.';
  for (const { command, progress, reject } of batch) {
    progress.answered += 1;
    reject(
      command.key === undefined
        ? new Problem(
            'unavailable',
            `${detail} The request had no ref_id: check whether it was executed before you repeat it.`,
          )
        : unavailable(`${detail} Retry with the same ref_id.`),
    );
  }
}
