import { columns } from '../database/columns.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Table } from '../ledger/command.ts';
import { eventId } from './event.ts';
import { packLine, packText, unpackEvents } from './pack.ts';
import { isSealedResource, openResource, sealResource } from './sealed.ts';

/** The personal data of a resource was erased: these fields replace those of its earlier events. */
export type EventErasure = { readonly resourceId: string; readonly fields: object };

export const eventErasures: Table<EventErasure> = {
  name: 'event_erasures',
  write: (tx, rows) =>
    tx.query(
      `insert into event_erasures (resource_id, fields)
       select resource_id, fields::jsonb from unnest($1::uuid[], $2::text[]) as row (resource_id, fields)
       on conflict (resource_id) do update set fields = excluded.fields`,
      columns(rows, { resourceId: 'uuid', fields: 'json' }),
    ),
};

type GroupRow = { readonly batchId: string; readonly customerId: string; readonly events: Buffer };

/** The events of a group with these fields in those of the resource. */
function erasedEvents(tx: Transaction, { batchId, events }: GroupRow, erasure: EventErasure): Buffer {
  let text = '';
  for (const { line, type, resourceId, atNs, resource } of unpackEvents(events)) {
    let stored = resource;
    if (resourceId === erasure.resourceId) {
      const id = eventId(batchId, line);
      const shown = JSON.parse(openResource(tx.vault, id, resource)) as object;
      const erased = JSON.stringify({ ...shown, ...erasure.fields });
      stored = isSealedResource(resource) ? sealResource(tx.vault(), id, erased) : erased;
    }
    text += packLine(line, type, resourceId, atNs, stored);
  }
  return packText(text);
}

async function eraseIn(tx: Transaction, erasure: EventErasure): Promise<void> {
  const groups = await tx.query<GroupRow>(
    `select g.batch_id as "batchId", g.customer_id as "customerId", g.events
     from event_resources r join event_groups g on g.batch_id = r.batch_id
     where r.resource_id = $1 order by g.batch_id, g.customer_id for update of g`,
    [erasure.resourceId],
  );
  for (const group of groups) {
    await tx.query('update event_groups set events = $3 where batch_id = $1 and customer_id = $2', [
      group.batchId,
      group.customerId,
      erasedEvents(tx, group, erasure),
    ]);
  }
}

/** Erases in the events of one resource. False if there is none left, or another node has it. */
export function eraseNext(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [erasure] = await tx.query<EventErasure>(
      `select resource_id as "resourceId", fields from event_erasures limit 1 for update skip locked`,
    );
    if (erasure === undefined) return false;
    await eraseIn(tx, erasure);
    await tx.query('delete from event_erasures where resource_id = $1', [erasure.resourceId]);
    return true;
  });
}
