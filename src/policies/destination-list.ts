import type { Declare, Proposed } from '../approvals/action.ts';
import type { Result } from '../approvals/approval.ts';
import type { Database } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import type { Change } from '../events/outbox.ts';
import { actorOf, actorText } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { Caller } from '../kernel/route.ts';
import { type Act, actCommand } from '../ledger/act.ts';
import { addDestination, type Destination, findDestination, removeDestination } from './destination-store.ts';

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

type Asked = {
  readonly destination_id: string;
  readonly destination: string;
  readonly label?: string;
};

/** Lists it. One that is listed already stays as it is. */
const listing =
  ({ destination_id: id, destination, label }: Asked, customerId: string): Act =>
  async (tx, actor) => {
    const added = { id, customerId, destination, label: label ?? null, addedBy: actorText(actor) };
    const { row, isNew } = await addDestination(tx, added);
    if (isNew) await recordChanges(tx, actor, [destinationChange('listed', row, row.createdAtNs)]);
  };

type Wanted = { readonly destination: string; readonly label?: string | undefined };

/** Puts a destination on the list of the caller, and answers with the destination, or with the request that waits. */
export type Listing = <Shown>(
  caller: Caller,
  wanted: Wanted,
  present: (row: Destination) => Shown,
) => Promise<{ readonly body: Shown } | Proposed>;

/** A new destination waits for approval where four eyes are required: otherwise an allow-list would protect from nobody. */
export function createListing({ database, declare }: { database: Database; declare: Declare }): Listing {
  const propose = declare<Asked, Result>({
    name: 'own_destination.list',
    level: 'CUSTOMER',
    summary: ({ destination, label }) => `List the destination ${destination}${label ? ` (${label})` : ''}.`,
    command: async ({ actor, customerId }, asked) =>
      actCommand(actor, listing(asked, customerId), { type: 'destination', id: asked.destination_id }),
    result: (made) => made,
  });
  return async (caller, { destination, label }, present) => {
    const { customerId } = caller;
    const find = () => findDestination(database.of(customerId), customerId, destination);
    const known = await find();
    if (known?.listed === true) return { body: present(known) };
    const asked = { destination_id: newId(), destination, ...(label !== undefined && { label }) };
    const proposed = await propose(caller, asked);
    if (proposed !== undefined) return proposed;
    await database.transaction((tx) => listing(asked, customerId)(tx, actorOf(caller)));
    return { body: present((await find())!) };
  };
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
