import { CLOCK_NS } from '../database/clock.ts';
import type { Transaction } from '../database/database.ts';
import { sealJson } from '../sealing/columns.ts';
import type { Account, AccountWithMembers } from './account.ts';
import type { Identity } from './identity.ts';
import { ACCOUNT_COLUMNS, findAccount, findIdentity, institutionPlace, personPlace } from './store.ts';

/** Locked until commit; undefined if the customer has no such identity. */
export async function lockIdentity(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<Identity | undefined> {
  await tx.query('select i.id from identities i where i.id = $1 and i.customer_id = $2 for update of i', [
    id,
    customerId,
  ]);
  return findIdentity(tx, customerId, id);
}

export async function changeIdentity(tx: Transaction, identity: Identity): Promise<Identity> {
  const { id, customerId, personDetails, institutionDetails, metadata } = identity;
  const vault = tx.vault();
  await tx.query(
    `update identities i set person_details = $2::jsonb, institution_details = $3::jsonb, metadata = $4::jsonb,
       updated_at_ns = greatest(i.updated_at_ns + 1, ${CLOCK_NS})
     where i.id = $1`,
    [
      id,
      sealJson(vault, personDetails, personPlace(identity)),
      sealJson(vault, institutionDetails, institutionPlace(identity)),
      metadata === null ? null : JSON.stringify(metadata),
    ],
  );
  return (await findIdentity(tx, customerId, id))!;
}

/** Locked until commit; undefined if the customer has no such account. */
export async function lockAccount(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<AccountWithMembers | undefined> {
  await tx.query('select a.id from accounts a where a.id = $1 and a.customer_id = $2 for update of a', [
    id,
    customerId,
  ]);
  return findAccount(tx, customerId, id);
}

export async function changeAccount(
  tx: Transaction,
  { id, type, description, metadata }: Account,
): Promise<Account> {
  const [account] = await tx.query<Account>(
    `update accounts a set type = $2, description = $3, metadata = $4::jsonb,
       updated_at_ns = greatest(a.updated_at_ns + 1, ${CLOCK_NS})
     where a.id = $1 returning ${ACCOUNT_COLUMNS}`,
    [id, type, description, metadata === null ? null : JSON.stringify(metadata)],
  );
  return account!;
}
