import type { Database } from '../database/database.ts';
import { recordChange } from '../events/append.ts';
import type { Actor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { nextSlot, skipSlots } from './assignment-store.ts';
import { resolveStop } from './lease-store.ts';

/** What an operator does about a lane or scanner that has stopped. */

export type Resolution = {
  readonly network: string;
  readonly task: string;
  /** The coin of the network. */
  readonly feeAsset: string;
  /** Where a lane goes on whose slots somebody else has used. */
  readonly nextSlot?: bigint | undefined;
  readonly actor: Actor;
};

/** Undefined if it was done; otherwise why it was not, as a sentence. */
export function resolve(database: Database, resolution: Resolution): Promise<string | undefined> {
  const { network, task, feeAsset, nextSlot: next, actor } = resolution;
  return database.transaction(async (tx) => {
    if (!(await resolveStop(tx, { network, task })))
      return `${network} ${task} is not stopped for an operator. Nothing was changed.`;
    await recordChange(tx, actor, {
      action: 'rail.resumed',
      customerId: null,
      resourceId: `${network}/${task}`,
      after: { network, task, ...(next !== undefined && { next_slot: next.toString() }) },
    });
    if (next === undefined) return undefined;
    const known = (await nextSlot(tx, network, task)) ?? 0n;
    if (next <= known)
      throw new Error(
        `the next slot of ${task} is ${known}: it can only be set to a higher one, not to ${next}`,
      );
    await skipSlots(tx, { id: newId(), network, lane: task, feeAsset }, next);
    return undefined;
  });
}
