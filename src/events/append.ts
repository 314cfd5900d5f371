import { clockOf } from '../database/clock.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../kernel/actor.ts';
import { newBatchId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Change, change } from './outbox.ts';
import { type EventRow, events } from './store.ts';

/** Records changes that are made without the write path, in the transaction that makes them. */
export async function recordChanges(
  tx: Transaction,
  actor: Actor,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((one) => change(one).row as EventRow);
  await events.write!(
    tx,
    rows,
    newBatchId(),
    rows.map(() => actor),
  );
}

/** One change, at the database's time. */
export async function recordChange(tx: Transaction, actor: Actor, made: Omit<Change, 'at'>): Promise<void> {
  await recordChanges(tx, actor, [{ ...made, at: await clockOf(tx) }]);
}

/** An attempt that was refused. It changed nothing, so it is not one of the changes of the resource. */
export type Refused = {
  readonly action: string;
  readonly customerId: string | null;
  readonly resourceId: string;
  readonly at: Instant;
  readonly after: object;
};

export async function recordRefused(
  tx: Transaction,
  refused: readonly (Refused & { readonly actor: Actor })[],
): Promise<void> {
  const rows = refused.map((one) => ({ ...(change(one).row as EventRow), isOnly: true }));
  await events.write!(
    tx,
    rows,
    newBatchId(),
    refused.map(({ actor }) => actor),
  );
}
