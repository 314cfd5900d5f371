import { Problem, unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Command, Outcome } from './command.ts';
import type { Verdict } from './decide.ts';

/** A command, and who waits for it. */
export type Waiting = {
  readonly command: Command<unknown>;
  resolve(outcome: Outcome<unknown>): void;
  reject(error: unknown): void;
};

/**
 * As many commands as fit into a batch, oldest first. If no batch is under way, half of them, where that is enough for
 * another batch: two that take turns keep both the node and the database busy, one keeps either waiting for the other.
 */
export function takeSome(queue: Waiting[], batchesUnderWay: number): Waiting[] {
  const half = batchesUnderWay === 0 && queue.length >= 2 * LIMITS.secondBatchCommandsMin;
  const countMax = Math.min(half ? Math.ceil(queue.length / 2) : queue.length, LIMITS.batchCommandsMax);
  let balances = 0;
  let count = 0;
  while (count < countMax) {
    balances += queue[count]!.command.balances.length;
    if (count > 0 && balances > LIMITS.batchBalancesMax) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/** Tells each what became of its command. */
export function settle(
  batch: readonly Waiting[],
  verdicts: readonly Verdict[],
  observer: { trouble(what: 'faulty', error: unknown): void },
): void {
  for (const [index, waiting] of batch.entries()) {
    const verdict = verdicts[index]!;
    if (verdict.kind === 'done') waiting.resolve({ replayed: false, answer: verdict.answer });
    else if (verdict.kind === 'replay')
      waiting.resolve({ replayed: true, resourceId: verdict.resourceId, request: verdict.request });
    else if (verdict.kind === 'refused') waiting.reject(verdict.problem);
    else {
      observer.trouble('faulty', verdict.error);
      waiting.reject(verdict.error);
    }
  }
}

export function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}

/** Repeating is safe only under a ref_id. Without one there is no hint to retry, for a client that would heed it. */
export function rejectUnknown(batch: readonly Waiting[]): void {
  const detail = 'The database went away while the request was committed, and its outcome is not known yet.';
  for (const { command, reject } of batch) {
    reject(
      command.key === undefined
        ? new Problem(
            'unavailable',
            `${detail} It had no ref_id: look whether it was done before you repeat it.`,
          )
        : unavailable(`${detail} Repeat it with the same ref_id.`),
    );
  }
}
