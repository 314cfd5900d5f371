import type { Problem } from '../kernel/problem.ts';
import type { BalanceKey, Command, IdempotencyKey, Outcome } from './command.ts';

/** A part of a command was refused, so nothing of the command was executed. */
export class PartRefused extends Error {
  readonly part: number;
  readonly problem: Problem;
  constructor(part: number, problem: Problem) {
    super(`part ${part} was refused`);
    this.part = part;
    this.problem = problem;
  }
}

const NO_KEYS: readonly IdempotencyKey[] = [];

export function keysOf({ key, parts }: Command<unknown>): readonly IdempotencyKey[] {
  if (parts !== undefined) return parts.flatMap(keysOf);
  return key === undefined ? NO_KEYS : [key];
}

/** How many commands it counts as, in queues and batches. */
export const sizeOf = ({ parts }: Command<unknown>): number => parts?.length ?? 1;

function distinctBalances(commands: readonly Command<unknown>[]): BalanceKey[] {
  const byAsset = new Map<string, Map<string, BalanceKey>>();
  for (const { balances } of commands) {
    for (const key of balances) {
      const ofAsset = byAsset.get(key.asset);
      if (ofAsset === undefined) byAsset.set(key.asset, new Map([[key.profileId, key]]));
      else ofAsset.set(key.profileId, key);
    }
  }
  return [...byAsset.values()].flatMap((ofAsset) => [...ofAsset.values()]);
}

/**
 * One command that executes the given ones in their order, or none of them: it is rejected with `PartRefused`, or, if the key of
 * a part was used for a different request, ends as a replay that names the part. A part whose key was used for an equal
 * request counts as executed. All of them are of one customer and one actor.
 */
export function allOrNone<Answer>(commands: readonly Command<Answer>[]): Command<readonly Outcome<Answer>[]> {
  const { actor, customerId } = commands[0]!;
  return {
    actor,
    ...(customerId !== undefined && { customerId }),
    ...(commands.every(({ optimistic }) => optimistic === true) && { optimistic: true }),
    balances: distinctBalances(commands),
    reads: commands.flatMap(({ reads = [] }) => reads),
    parts: commands,
    decide() {
      throw new Error('the parts of a command are decided one by one');
    },
  };
}
