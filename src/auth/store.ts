import type { JWK } from 'jose';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Caller } from '../kernel/route.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';

export type Integration = Caller['integration'];

export type Customer = {
  readonly id: string;
  readonly name: string;
  readonly integration: Integration;
  /** Its rate limit; null: that of `LIMITS`. */
  readonly pointsPerSecond: number | null;
  readonly createdAtNs: Instant;
};

export type Client = {
  readonly id: string;
  readonly customerId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Address ranges in CIDR notation; null: from anywhere. */
  readonly allowedAddresses: readonly string[] | null;
  /** The person who owns it: its clients and the person count as one when a request needs another approver. */
  readonly ownerPersonId: string | null;
  readonly createdAtNs: Instant;
  readonly disabledAtNs: Instant | null;
};

/** What a node needs to know of a client to accept its tokens. Lists are texts with spaces, which are quick to compare. */
export type ClientRow = {
  readonly id: string;
  readonly customerId: string;
  readonly name: string;
  /** The person who owns the client, if somebody does. */
  readonly ownerPersonId: string | null;
  readonly integration: Integration;
  readonly disabled: boolean;
  readonly pointsPerSecond: number | null;
  readonly scopes: string;
  readonly allowedAddresses: string | null;
  /** Ids of the tokens that were revoked and have not expired yet. */
  readonly revokedTokens: string | null;
};

export type SigningKeyRow = {
  readonly id: string;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
  readonly createdAtNs: Instant;
  readonly retiredAtNs: Instant | null;
};

export type NewSigningKey = Omit<SigningKeyRow, 'createdAtNs' | 'retiredAtNs'>;

const CUSTOMER =
  'id, name, integration, points_per_second as "pointsPerSecond", created_at_ns as "createdAtNs"';
const CLIENT = `id, customer_id as "customerId", name, scopes, allowed_addresses as "allowedAddresses",
  owner_person_id as "ownerPersonId", created_at_ns as "createdAtNs", disabled_at_ns as "disabledAtNs"`;

/** Undefined when the id or the name is taken. */
export async function insertCustomer(
  tx: Queryable,
  customer: Pick<Customer, 'id' | 'name' | 'integration'>,
): Promise<Customer | undefined> {
  const rows = await tx.query<Customer>(
    `insert into customers (id, name, integration, created_at_ns) values ($1, $2, $3, ${CLOCK_NS})
     on conflict do nothing returning ${CUSTOMER}`,
    [customer.id, customer.name, customer.integration],
  );
  return rows[0];
}

export async function customerById(tx: Queryable, id: string): Promise<Customer | undefined> {
  const rows = await tx.query<Customer>(`select ${CUSTOMER} from customers where id = $1`, [id]);
  return rows[0];
}

export async function customerByName(tx: Queryable, name: string): Promise<Customer | undefined> {
  const rows = await tx.query<Customer>(`select ${CUSTOMER} from customers where name = $1`, [name]);
  return rows[0];
}

export function allCustomers(tx: Queryable): Promise<Customer[]> {
  return tx.query<Customer>(`select ${CUSTOMER} from customers order by created_at_ns, id`);
}

/** Null: the default. */
export async function setPointsPerSecond(
  tx: Queryable,
  id: string,
  pointsPerSecond: number | null,
): Promise<void> {
  await tx.query('update customers set points_per_second = $2 where id = $1', [id, pointsPerSecond]);
}

/** Undefined when the id is taken. */
export async function insertClient(
  tx: Queryable,
  client: Pick<Client, 'id' | 'customerId' | 'name' | 'scopes' | 'ownerPersonId'>,
): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `insert into clients (id, customer_id, name, scopes, owner_person_id, created_at_ns)
     values ($1, $2, $3, $4::text[], $5, ${CLOCK_NS}) on conflict do nothing returning ${CLIENT}`,
    [client.id, client.customerId, client.name, textArray(client.scopes), client.ownerPersonId],
  );
  return rows[0];
}

/** An active person who can own clients; the customer of the operator's people is null. */
export async function ownerById(
  tx: Queryable,
  id: string,
): Promise<{ readonly customerId: string | null } | undefined> {
  const [row] = await tx.query<{ customerId: string | null }>(
    'select customer_id as "customerId" from client_owners where id = $1',
    [id],
  );
  return row;
}

/** Whether a client can approve requests of operators. */
export async function hasApprovingClient(tx: Queryable): Promise<boolean> {
  const rows = await tx.query(
    `select from clients where 'operator:approve' = any (scopes) and disabled_at_ns is null limit 1`,
  );
  return rows.length > 0;
}

/** The database's time. */
export async function clockOf(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

/** Locked until the transaction ends, so that changes of one client's credentials go one after the other. */
export async function lockClient(tx: Transaction, id: string): Promise<Client | undefined> {
  const rows = await tx.query<Client>(`select ${CLIENT} from clients where id = $1 for update`, [id]);
  return rows[0];
}

export function clientsOf(tx: Queryable, customerId: string): Promise<Client[]> {
  return tx.query<Client>(`select ${CLIENT} from clients where customer_id = $1 order by created_at_ns, id`, [
    customerId,
  ]);
}

export function allClients(tx: Queryable): Promise<Client[]> {
  return tx.query<Client>(`select ${CLIENT} from clients order by created_at_ns, id`);
}

/** Keeps the time of the first call; undefined when there is no such client. */
export async function disable(tx: Queryable, id: string): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `update clients set disabled_at_ns = coalesce(disabled_at_ns, ${CLOCK_NS}) where id = $1 returning ${CLIENT}`,
    [id],
  );
  return rows[0];
}

/** Undefined when there is no such client. */
export async function enable(tx: Queryable, id: string): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `update clients set disabled_at_ns = null where id = $1 returning ${CLIENT}`,
    [id],
  );
  return rows[0];
}

export async function clientById(tx: Queryable, id: string): Promise<Client | undefined> {
  const rows = await tx.query<Client>(`select ${CLIENT} from clients where id = $1`, [id]);
  return rows[0];
}

/** Undefined when there is no such client. */
export async function setScopes(
  tx: Queryable,
  id: string,
  scopes: readonly string[],
): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `update clients set scopes = $2::text[] where id = $1 returning ${CLIENT}`,
    [id, textArray(scopes)],
  );
  return rows[0];
}

/** Null: from anywhere. Undefined when there is no such client. */
export async function setAllowedAddresses(
  tx: Queryable,
  id: string,
  ranges: readonly string[] | null,
): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `update clients set allowed_addresses = $2::text[] where id = $1 returning ${CLIENT}`,
    [id, ranges === null ? null : textArray(ranges)],
  );
  return rows[0];
}

/** Null: of nobody in particular. Undefined when there is no such client. */
export async function setOwner(
  tx: Queryable,
  id: string,
  ownerPersonId: string | null,
): Promise<Client | undefined> {
  const rows = await tx.query<Client>(
    `update clients set owner_person_id = $2 where id = $1 returning ${CLIENT}`,
    [id, ownerPersonId],
  );
  return rows[0];
}

export function clientRows(tx: Queryable, ids: readonly string[]): Promise<ClientRow[]> {
  return tx.query<ClientRow>(
    `select clients.id, customer_id as "customerId", clients.name, owner_person_id as "ownerPersonId", integration,
            disabled_at_ns is not null as disabled, points_per_second as "pointsPerSecond",
            array_to_string(scopes, ' ') as scopes, array_to_string(allowed_addresses, ' ') as "allowedAddresses",
            (select string_agg(jti, ' ' order by jti) from revoked_tokens
             where client_id = clients.id and expires_at_ns > ${CLOCK_NS}) as "revokedTokens"
     from clients join customers on customers.id = customer_id where clients.id = any ($1::text[])`,
    [textArray(ids)],
  );
}

/** Whoever can read the private key can issue tokens of every client, so it is sealed. */
const privateKeyPlace = (id: string): string => `signing_keys.private_jwk:${id}`;

export const olderSigningKeys = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'signing_keys',
    key: { name: 'id', type: 'text' },
    columns: ['private_jwk'],
  });

/** The key that is not retired signs. Retired keys still verify for `retiredNs`. */
export async function trustedKeys(tx: Queryable, retiredNs: bigint): Promise<SigningKeyRow[]> {
  const rows = await tx.query<SigningKeyRow>(
    `select id, private_jwk as "privateJwk", public_jwk as "publicJwk", created_at_ns as "createdAtNs",
            retired_at_ns as "retiredAtNs"
     from signing_keys where retired_at_ns is null or retired_at_ns >= ${CLOCK_NS} - $1::bigint
     order by created_at_ns desc, id desc`,
    [retiredNs],
  );
  return rows.map((row) => ({
    ...row,
    privateJwk: openJson(tx.vault(), row.privateJwk, privateKeyPlace(row.id)),
  }));
}

/** Serializes changes of the signing key across all nodes. */
export async function lockSigningKeys(tx: Transaction): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.signingKeys]);
}

export async function retireKeys(tx: Transaction): Promise<void> {
  await tx.query(`update signing_keys set retired_at_ns = ${CLOCK_NS} where retired_at_ns is null`);
}

/** Deletes the keys that were retired longer ago than that. */
export async function deleteRetiredKeys(tx: Transaction, retiredNs: bigint): Promise<void> {
  await tx.query(`delete from signing_keys where retired_at_ns < ${CLOCK_NS} - $1::bigint`, [retiredNs]);
}

/** Deletes every retired key, however recently it was retired. */
export async function deleteAllRetiredKeys(tx: Transaction): Promise<void> {
  await tx.query('delete from signing_keys where retired_at_ns is not null');
}

export async function insertKey(tx: Transaction, key: NewSigningKey): Promise<void> {
  await tx.query(
    `insert into signing_keys (id, private_jwk, public_jwk, created_at_ns)
     values ($1, $2::jsonb, $3::jsonb, ${CLOCK_NS})`,
    [key.id, sealJson(tx.vault(), key.privateJwk, privateKeyPlace(key.id)), JSON.stringify(key.publicJwk)],
  );
}
