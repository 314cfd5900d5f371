import type { Database } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import type { Change } from '../events/outbox.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { Caller } from '../kernel/route.ts';
import { addDestination, type Destination, removeDestination } from './destination-store.ts';

/** The list of destinations of a customer, and its lines in the audit log. */

export const presentDestination = ({ id, destination, label, addedBy, createdAtNs }: Destination) => ({
  id,
  destination,
  ...(label !== null && { label }),
  added_by: addedBy,
  created_at: formatInstant(createdAtNs),
});

const destinationChange = (what: 'listed' | 'removed', row: Destination, at: Instant): Change => ({
  action: `destination.${what}`,
  customerId: row.customerId,
  resourceId: row.id,
  at,
  after: what === 'removed' ? null : presentDestination(row),
});

export function addToList(
  database: Database,
  actor: Actor,
  added: Omit<Destination, 'listed' | 'createdAtNs'>,
): Promise<Destination> {
  return database.transaction(async (tx) => {
    const { row, isNew } = await addDestination(tx, added);
    if (isNew) await recordChanges(tx, actor, [destinationChange('listed', row, row.createdAtNs)]);
    return row;
  });
}

/** Undefined if the caller has not listed it. */
export function removeFromList(
  { database, clock }: { readonly database: Database; readonly clock: Pick<Clock, 'now'> },
  caller: Caller,
  id: string,
): Promise<Destination | undefined> {
  return database.transaction(async (tx) => {
    const row = await removeDestination(tx, caller.customerId, id);
    if (row !== undefined)
      await recordChanges(tx, actorOf(caller), [destinationChange('removed', row, clock.now())]);
    return row;
  });
}
