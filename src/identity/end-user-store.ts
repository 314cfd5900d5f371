import { columns } from '../database/columns.ts';
import type { Table } from '../ledger/command.ts';
import type { EndUserFacts, EndUserStatus } from './rules.ts';

type Row = {
  key: string;
  identity_customer_id: string | null;
  identity_status: EndUserStatus | null;
  account_customer_id: string | null;
  owner_status: EndUserStatus | null;
  linked: boolean;
};

/** Frozen identities are looked up only if there is a freeze at all. */
const statusOf = (
  alias: string,
): string => `case when ${alias}.status = 'APPROVED' and exists (select from freezes_in_force)
  and (select f.id from frozen_identities f where f.id = ${alias}.id) is not null then 'FROZEN' else ${alias}.status end`;

/** Facts about pairs of identity and account, by `endUserKey`. */
export const endUserTable: Table<EndUserFacts> = {
  name: 'end users',
  async load(tx, keys) {
    const wanted = keys.map((key) => {
      const [identityId, accountId] = key.split('/');
      return { key, identityId: identityId || null, accountId: accountId || null };
    });
    const rows = await tx.query<Row>(
      `select wanted.key, i.customer_id as identity_customer_id, ${statusOf('i')} as identity_status,
              a.customer_id as account_customer_id, ${statusOf('owner')} as owner_status,
              coalesce(a.identity_id = i.id or exists (
                select from account_members m where m.account_id = a.id and m.identity_id = i.id), false) as linked
       from unnest($1::text[], $2::uuid[], $3::uuid[]) as wanted (key, identity_id, account_id)
       left join identities i on i.id = wanted.identity_id
       left join accounts a on a.id = wanted.account_id
       left join identities owner on owner.id = a.identity_id`,
      columns(wanted, { key: 'text', identityId: 'uuid', accountId: 'uuid' }),
    );
    return new Map(rows.map((row) => [row.key, factsOf(row)]));
  },
};

function factsOf(row: Row): EndUserFacts {
  return {
    identity:
      row.identity_customer_id === null
        ? undefined
        : { customerId: row.identity_customer_id, status: row.identity_status! },
    account:
      row.account_customer_id === null
        ? undefined
        : { customerId: row.account_customer_id, ownerStatus: row.owner_status! },
    linked: row.linked,
  };
}
