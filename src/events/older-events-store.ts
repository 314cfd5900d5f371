import { textArray } from '../database/array.ts';
import type { Database } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { eventId } from './event.ts';
import { packLine, packText, unpackEvents } from './pack.ts';
import { isSealedResource, sealResource } from './sealed.ts';

type Key = readonly [batchId: string, customerId: string];
type Walked = { readonly last: Key | null; readonly concerned: readonly Key[] };

const NIL = '00000000-0000-0000-0000-000000000000';

/** Groups with events of these types, whose resources are to be sealed. */
export function olderEvents(database: Database, types: readonly string[]): OlderRows {
  const wanted = new Set(types);

  function repacked(batchId: string, events: Buffer): Buffer {
    let text = '';
    for (const { line, type, resourceId, atNs, resource } of unpackEvents(events)) {
      const isPlain = wanted.has(type) && !isSealedResource(resource);
      const sealed = isPlain ? sealResource(database.vault(), eventId(batchId, line), resource) : resource;
      text += packLine(line, type, resourceId, atNs, sealed);
    }
    return packText(text);
  }

  async function sealGroup([batchId, customerId]: Key): Promise<void> {
    const [row] = await database.query<{ events: Buffer }>(
      'select events from event_groups where batch_id = $1 and customer_id = $2',
      [batchId, customerId],
    );
    // Events never change. So if another node has sealed them meanwhile, the result is equivalent.
    await database.query('update event_groups set events = $3 where batch_id = $1 and customer_id = $2', [
      batchId,
      customerId,
      repacked(batchId, row!.events),
    ]);
  }

  return {
    table: 'event_groups',
    async sealNext(after, rowsMax) {
      const start = after === '' ? [NIL, NIL] : (JSON.parse(after) as Key);
      const [walked] = await database.query<Walked>(
        `with walked as materialized (
           select batch_id, customer_id, types from event_groups where (batch_id, customer_id) > ($1::uuid, $2::uuid)
           order by batch_id, customer_id limit $3)
         select (select json_build_array(batch_id, customer_id) from walked
                 order by batch_id desc, customer_id desc limit 1) as last,
                (select coalesce(json_agg(json_build_array(batch_id, customer_id)), '[]') from walked
                 where types && $4::text[]) as concerned`,
        [...start, rowsMax, textArray(types)],
      );
      const { last, concerned } = walked!;
      for (const key of concerned) await sealGroup(key);
      return last === null ? undefined : JSON.stringify(last);
    },
  };
}
