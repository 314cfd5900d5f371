import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { selectList } from '../database/list.ts';
import { createParameters } from '../database/select.ts';
import { recordChange } from '../events/append.ts';
import { change } from '../events/outbox.ts';
import type { Actor } from '../kernel/actor.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';
import { type Account, type AccountWithMembers, presentAccount } from './account.ts';
import { type Identity, presentIdentity } from './identity.ts';

const IDENTITY_COLUMNS = `i.id, i.customer_id as "customerId", i.type, i.person_details as "personDetails",
  i.institution_details as "institutionDetails", i.status, i.ref_id as "refId", i.metadata,
  i.created_at_ns as "createdAtNs", i.updated_at_ns as "updatedAtNs"`;

type Details = Pick<Identity, 'id' | 'personDetails' | 'institutionDetails'>;

export const personPlace = ({ id }: { id: string }): string => `identities.person_details:${id}`;
export const institutionPlace = ({ id }: { id: string }): string => `identities.institution_details:${id}`;

/** The columns with names, sealed. */
const sealedDetails = (vault: Vault) => ({
  personDetails: (row: Details) => sealJson(vault, row.personDetails, personPlace(row)),
  institutionDetails: (row: Details) => sealJson(vault, row.institutionDetails, institutionPlace(row)),
});

function opened(vault: Vault, row: Identity): Identity {
  return {
    ...row,
    personDetails: openJson(vault, row.personDetails, personPlace(row)),
    institutionDetails: openJson(vault, row.institutionDetails, institutionPlace(row)),
  };
}

export const olderIdentities = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'identities',
    key: { name: 'id', type: 'uuid' },
    columns: ['person_details', 'institution_details'],
  });

/** Identities by id, of all customers. Commands write only new ones. */
export const identityTable: Table<Identity> = {
  name: 'identities',
  record: (identity) => [
    change({
      action: 'identity.created',
      customerId: identity.customerId,
      resourceId: identity.id,
      at: identity.createdAtNs,
      after: presentIdentity(identity),
      isSealed: true,
    }),
  ],
  async load(tx, ids) {
    const rows = await tx.query<Identity>(
      `select ${IDENTITY_COLUMNS} from identities i where i.id = any ($1::uuid[])`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, opened(tx.vault(), row)]));
  },
  write: (tx, identities) =>
    tx.query(
      `insert into identities (id, customer_id, type, person_details, institution_details, status, ref_id, metadata,
                               created_at_ns, updated_at_ns)
       select id, customer_id, type, person_details::jsonb, institution_details::jsonb, status, ref_id,
              metadata::jsonb, created_at_ns, updated_at_ns
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                   $9::bigint[], $10::bigint[])
            as row (id, customer_id, type, person_details, institution_details, status, ref_id, metadata,
                    created_at_ns, updated_at_ns)`,
      columns(identities, {
        id: 'uuid',
        customerId: 'uuid',
        type: 'text',
        ...sealedDetails(tx.vault()),
        status: 'text',
        refId: 'text',
        metadata: 'json',
        createdAtNs: 'bigint',
        updatedAtNs: 'bigint',
      }),
    ),
};

export const ACCOUNT_COLUMNS = `a.id, a.customer_id as "customerId", a.identity_id as "identityId", a.type, a.description,
  a.profile_id as "profileId", a.ref_id as "refId", a.metadata,
  a.created_at_ns as "createdAtNs", a.updated_at_ns as "updatedAtNs"`;

/** Members of one request have the same instant; their ids are in the order of the request. */
const MEMBERS_COLUMN = `(
  select coalesce(json_agg(json_build_object('id', m.id, 'identity_id', m.identity_id, 'roles', m.roles)
                           order by m.created_at_ns, m.id), '[]')
  from account_members m where m.account_id = a.id) as members`;

/** Accounts by id, of all customers. Of an existing account, only the time of its last update is written. */
export const accountTable: Table<Account> = {
  name: 'accounts',
  // Members are resources of their own in the log.
  record: (account) => [
    change({
      action: account.createdAtNs === account.updatedAtNs ? 'account.created' : 'account.updated',
      customerId: account.customerId,
      resourceId: account.id,
      at: account.updatedAtNs,
      after: presentAccount({ ...account, members: undefined }),
    }),
  ],
  async load(tx, ids) {
    const rows = await tx.query<Account>(
      `select ${ACCOUNT_COLUMNS} from accounts a where a.id = any ($1::uuid[])`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  write(tx, changed) {
    // In the same order on all nodes, so that they cannot deadlock.
    const accounts = [...changed].sort((one, other) => (one.id < other.id ? -1 : 1));
    return tx.query(
      `insert into accounts (id, customer_id, identity_id, type, description, profile_id, ref_id, metadata,
                             created_at_ns, updated_at_ns)
       select id, customer_id, identity_id, type, description, profile_id, ref_id, metadata::jsonb,
              created_at_ns, updated_at_ns
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[],
                   $9::bigint[], $10::bigint[])
            as row (id, customer_id, identity_id, type, description, profile_id, ref_id, metadata,
                    created_at_ns, updated_at_ns)
       on conflict (id) do update set updated_at_ns = greatest(accounts.updated_at_ns, excluded.updated_at_ns)`,
      columns(accounts, {
        id: 'uuid',
        customerId: 'uuid',
        identityId: 'uuid',
        type: 'text',
        description: 'text',
        profileId: 'uuid',
        refId: 'text',
        metadata: 'json',
        createdAtNs: 'bigint',
        updatedAtNs: 'bigint',
      }),
    );
  },
};

/** An identity of that customer; undefined for an identity of another customer. */
export async function findIdentity(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Identity | undefined> {
  const [identity] = await database.query<Identity>(
    `select ${IDENTITY_COLUMNS} from identities i where i.id = $1 and i.customer_id = $2`,
    [id, customerId],
  );
  return identity && opened(database.vault(), identity);
}

/** Setting the same status again is not an update. False if there is no such identity. */
export async function setIdentityStatus(
  tx: Transaction,
  id: string,
  status: Identity['status'],
  actor: Actor,
): Promise<boolean> {
  const rows = await tx.query(
    `update identities set status = $2, updated_at_ns = case when status = $2 then updated_at_ns else
       greatest(updated_at_ns + 1, ${CLOCK_NS}) end
     where id = $1 returning id`,
    [id, status],
  );
  if (rows.length === 0) return false;
  const identity = (await identityTable.load!(tx, [id])).get(id)!;
  await recordChange(tx, actor, {
    action: status === 'DISABLED' ? 'identity.disabled' : 'identity.enabled',
    customerId: identity.customerId,
    resourceId: id,
    after: presentIdentity(identity),
    isSealed: true,
  });
  return true;
}

const IDENTITY_FILTERS = {
  ids: { column: 'i.id', type: 'uuid', few: true },
  ref_ids: { column: 'i.id', type: 'uuid', few: true },
} as const;

export async function listIdentities(
  database: Queryable,
  customerId: string,
  filters: { readonly ids?: readonly string[]; readonly ref_ids?: readonly string[] },
  page: Page,
): Promise<Found<Identity>> {
  const refIds =
    filters.ref_ids && (await resourcesByRefId(database, customerId, 'identities', filters.ref_ids));
  const parameters = createParameters();
  const found = await selectList<Identity, keyof typeof IDENTITY_FILTERS>(database, page, {
    table: 'identities',
    alias: 'i',
    columns: IDENTITY_COLUMNS,
    owner: 'i.customer_id as "customerId"',
    parameters,
    own: `i.customer_id = ${parameters.add(customerId)}`,
    filters: IDENTITY_FILTERS,
    wanted: { ...filters, ref_ids: refIds },
  });
  return { ...found, rows: found.rows.map((row) => opened(database.vault(), row)) };
}

export async function findAccount(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<AccountWithMembers | undefined> {
  const [account] = await database.query<AccountWithMembers>(
    `select ${ACCOUNT_COLUMNS}, ${MEMBERS_COLUMN} from accounts a where a.id = $1 and a.customer_id = $2`,
    [id, customerId],
  );
  return account;
}

const ACCOUNT_FILTERS = {
  ids: { column: 'a.id', type: 'uuid', few: true },
  ref_ids: { column: 'a.id', type: 'uuid', few: true },
  identity_ids: { column: 'a.identity_id', type: 'uuid' },
} as const;

export async function listAccounts(
  database: Queryable,
  customerId: string,
  filters: {
    readonly ids?: readonly string[];
    readonly identity_id?: string;
    readonly identity_ids?: readonly string[];
    readonly ref_ids?: readonly string[];
  },
  page: Page,
): Promise<Found<AccountWithMembers>> {
  const refIds =
    filters.ref_ids && (await resourcesByRefId(database, customerId, 'accounts', filters.ref_ids));
  const parameters = createParameters();
  return selectList<AccountWithMembers, keyof typeof ACCOUNT_FILTERS>(database, page, {
    table: 'accounts',
    alias: 'a',
    columns: `${ACCOUNT_COLUMNS}, ${MEMBERS_COLUMN}`,
    owner: 'a.customer_id as "customerId"',
    parameters,
    own: `a.customer_id = ${parameters.add(customerId)}`,
    filters: ACCOUNT_FILTERS,
    wanted: {
      ...filters,
      ref_ids: refIds,
      identity_ids: oneOrSeveral(filters.identity_id, filters.identity_ids),
    },
  });
}
