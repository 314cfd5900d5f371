import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { StaleRead } from '../database/failure.ts';
import type { Table } from '../ledger/command.ts';
import { type Member, type MemberPlace, placeKey, placeOf } from './member.ts';

const COLUMNS = `m.id, m.customer_id as "customerId", m.account_id as "accountId", m.identity_id as "identityId",
  m.roles, m.created_at_ns as "createdAtNs"`;

/**
 * Places on accounts by `placeKey`. Within a batch, a command sees what the commands before it did. Between batches and
 * nodes nothing is locked when a place is read: the unique constraint decides. An insert waits for a concurrent insert of
 * the same place and is then skipped, a delete does not find its row; in both cases the read was stale, and the batch is
 * retried on the current rows. So two concurrent requests that add the same identity create one member, and the second
 * one gets the answer of a retry. Locking the rows of the accounts instead would cost every batch, for a rare conflict.
 */
export const memberPlaces: Table<MemberPlace> = {
  name: 'account members',
  async load(tx, keys) {
    const wanted = keys.map(placeOf);
    const rows = await tx.query<Member>(
      `select ${COLUMNS} from unnest($1::uuid[], $2::uuid[]) as wanted (account_id, identity_id)
       join account_members m using (account_id, identity_id)`,
      columns(wanted, { accountId: 'uuid', identityId: 'uuid' }),
    );
    return new Map(
      rows.map((member) => [placeKey(member.accountId, member.identityId), { stored: member, member }]),
    );
  },
  async write(tx, places) {
    const changed = places.filter(({ stored, member }) => stored?.id !== member?.id);
    const gone = changed.flatMap(({ stored }) => (stored === undefined ? [] : [stored.id]));
    const added = changed.flatMap(({ member }) => (member === undefined ? [] : [member]));
    const [removedRows, addedRows] = await Promise.all([
      gone.length > 0 ? removeMembers(tx, gone) : [],
      added.length > 0 ? insertMembers(tx, added) : [],
    ]);
    if (removedRows.length < gone.length || addedRows.length < added.length) {
      throw new StaleRead('an account member');
    }
  },
};

function removeMembers(tx: Transaction, ids: readonly string[]): Promise<object[]> {
  return tx.query('delete from account_members where id = any ($1::uuid[]) returning id', [plainArray(ids)]);
}

function insertMembers(tx: Transaction, members: readonly Member[]): Promise<object[]> {
  return tx.query(
    `insert into account_members (id, customer_id, account_id, identity_id, roles, created_at_ns)
     select id, customer_id, account_id, identity_id, string_to_array(roles, ','), created_at_ns
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[])
          as row (id, customer_id, account_id, identity_id, roles, created_at_ns)
     on conflict (account_id, identity_id) do nothing
     returning id`,
    columns(members, {
      id: 'uuid',
      customerId: 'uuid',
      accountId: 'uuid',
      identityId: 'uuid',
      roles: (member) => member.roles.join(','),
      createdAtNs: 'bigint',
    }),
  );
}

/** A member of an account of that customer; undefined for a member of another customer's account. */
export async function findMember(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Member | undefined> {
  const [member] = await database.query<Member>(
    `select ${COLUMNS} from account_members m where m.id = $1 and m.customer_id = $2`,
    [id, customerId],
  );
  return member;
}
