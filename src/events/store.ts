import { plainArray, textArray } from '../database/array.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Table } from '../ledger/command.ts';

/** A change of state, appended in the transaction that makes it. Carries the resource as it was, as users see it. */
export type EventRow = {
  readonly customerId: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  readonly resource: string;
};

export const events: Table<EventRow> = {
  name: 'events',
  write: (tx, rows) =>
    tx.query(
      `insert into events (id, customer_id, type, resource_id, at_ns, resource)
       select id, customer_id, type, resource_id, at_ns, resource::json
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[])
            as row (id, customer_id, type, resource_id, at_ns, resource)`,
      [
        // Ids are made here and not by rules, which are pure and may run again.
        plainArray(rows.map(newId)),
        plainArray(rows.map((row) => row.customerId)),
        textArray(rows.map((row) => row.type)),
        plainArray(rows.map((row) => row.resourceId)),
        plainArray(rows.map((row) => row.atNs)),
        textArray(rows.map((row) => row.resource)),
      ],
    ),
};
