import { columns } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { requestDigests } from './digests.ts';

type Row = {
  readonly customerId: string;
  readonly space: string;
  readonly refId: string;
  readonly resourceId: string;
  readonly request: string;
};
type Walked = { readonly last: readonly [string, string, string] | null; readonly plain: readonly Row[] };

const START = ['00000000-0000-0000-0000-000000000000', '', ''] as const;

/** Idempotency keys that were stored with the request itself, as JSON. */
export function olderRequests(database: Database): OlderRows {
  return {
    table: 'idempotency_keys',
    async sealNext(after, rowsMax) {
      const start = after === '' ? START : (JSON.parse(after) as typeof START);
      const [walked] = await database.query<Walked>(
        `with walked as materialized (
           select * from idempotency_keys where (customer_id, space, ref_id) > ($1::uuid, $2::text, $3::text)
           order by customer_id, space, ref_id limit $4)
         select (select json_build_array(customer_id, space, ref_id) from walked
                 order by customer_id desc, space desc, ref_id desc limit 1) as last,
                (select coalesce(json_agg(json_build_object('customerId', customer_id, 'space', space, 'refId', ref_id,
                                                            'resourceId', resource_id, 'request', request)), '[]')
                 from walked where request like '{%') as plain`,
        [...start, rowsMax],
      );
      const { last, plain } = walked!;
      const digests = requestDigests(database.vault());
      if (plain.length > 0)
        await database.query(
          `update idempotency_keys k set request = row.digests
           from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as row (customer_id, space, ref_id, digests)
           where k.customer_id = row.customer_id and k.space = row.space and k.ref_id = row.ref_id`,
          columns(plain, {
            customerId: 'uuid',
            space: 'text',
            refId: 'text',
            request: (row) => digests.ofStored(row.request, { ...row, request: {} }),
          }),
        );
      return last === null ? undefined : JSON.stringify(last);
    },
  };
}
