import type { JWK } from 'jose';
import { textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';

/** A secret as it is listed: without its hash. */
export type SecretRow = {
  readonly id: string;
  readonly createdAtNs: Instant;
  readonly expiresAtNs: Instant | null;
};

export type KeyRow = { readonly kid: string; readonly jwk: JWK; readonly createdAtNs: Instant };

/** What a client can prove its identity with now. */
export type Authenticable = {
  readonly id: string;
  readonly customerId: string;
  readonly scopes: readonly string[];
  readonly allowedAddresses: readonly string[] | null;
  readonly isDisabled: boolean;
  /** Those that have not expired. */
  readonly secrets: readonly { readonly id: string; readonly hash: string }[];
  readonly keys: readonly JWK[];
};

const UNEXPIRED = `(expires_at_ns is null or expires_at_ns > ${CLOCK_NS})`;

/** The only statement that reads the hashes of secrets. */
export function authenticableClients(tx: Queryable, ids: readonly string[]): Promise<Authenticable[]> {
  return tx.query<Authenticable>(
    `select id, customer_id as "customerId", scopes, allowed_addresses as "allowedAddresses",
            disabled_at_ns is not null as "isDisabled",
            coalesce((select jsonb_agg(jsonb_build_object('id', secret.id, 'hash', secret.hash))
                      from client_secrets secret where client_id = clients.id and ${UNEXPIRED}), '[]') as secrets,
            coalesce((select jsonb_agg(jwk) from client_keys where client_id = clients.id), '[]') as keys
     from clients where id = any ($1::text[])`,
    [textArray(ids)],
  );
}

export async function insertSecret(
  tx: Queryable,
  secret: { id: string; clientId: string; hash: string; expiresAtNs: Instant | null },
): Promise<SecretRow> {
  const [row] = await tx.query<SecretRow>(
    `insert into client_secrets (id, client_id, hash, created_at_ns, expires_at_ns)
     values ($1, $2, $3, ${CLOCK_NS}, $4) returning id, created_at_ns as "createdAtNs", expires_at_ns as "expiresAtNs"`,
    [secret.id, secret.clientId, secret.hash, secret.expiresAtNs],
  );
  return row!;
}

/** Does nothing if the hash was replaced meanwhile. */
export async function replaceHash(tx: Queryable, id: string, old: string, hash: string): Promise<void> {
  await tx.query('update client_secrets set hash = $3 where id = $1 and hash = $2', [id, old, hash]);
}

export function secretsOf(tx: Queryable, clientId: string): Promise<SecretRow[]> {
  return tx.query<SecretRow>(
    `select id, created_at_ns as "createdAtNs", expires_at_ns as "expiresAtNs" from client_secrets
     where client_id = $1 order by created_at_ns, id`,
    [clientId],
  );
}

export async function deleteExpiredSecrets(tx: Transaction, clientId: string): Promise<void> {
  await tx.query(`delete from client_secrets where client_id = $1 and not ${UNEXPIRED}`, [clientId]);
}

/** False if the client has no such secret. */
export async function deleteSecret(tx: Transaction, clientId: string, id: string): Promise<boolean> {
  const rows = await tx.query('delete from client_secrets where client_id = $1 and id = $2 returning id', [
    clientId,
    id,
  ]);
  return rows.length > 0;
}

/** False if the client has a key with that id. */
export async function insertClientKey(
  tx: Transaction,
  key: { clientId: string; kid: string; jwk: JWK },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into client_keys (client_id, kid, jwk, created_at_ns) values ($1, $2, $3::jsonb, ${CLOCK_NS})
     on conflict do nothing returning kid`,
    [key.clientId, key.kid, JSON.stringify(key.jwk)],
  );
  return rows.length > 0;
}

export function clientKeysOf(tx: Queryable, clientId: string): Promise<KeyRow[]> {
  return tx.query<KeyRow>(
    `select kid, jwk, created_at_ns as "createdAtNs" from client_keys where client_id = $1 order by created_at_ns, kid`,
    [clientId],
  );
}

/** False if the client has no such key. */
export async function deleteClientKey(tx: Transaction, clientId: string, kid: string): Promise<boolean> {
  const rows = await tx.query('delete from client_keys where client_id = $1 and kid = $2 returning kid', [
    clientId,
    kid,
  ]);
  return rows.length > 0;
}

/** Secrets that have not expired, and keys. */
export async function usableCredentials(tx: Transaction, clientId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select ((select count(*) from client_secrets where client_id = $1 and ${UNEXPIRED})
           + (select count(*) from client_keys where client_id = $1))::int as count`,
    [clientId],
  );
  return row!.count;
}

/** False if the assertion was used before, on any node. */
export async function useAssertion(
  tx: Queryable,
  assertion: { clientId: string; jti: string; expiresAtNs: Instant },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into used_assertions (client_id, jti, expires_at_ns) values ($1, $2, $3)
     on conflict do nothing returning jti`,
    [assertion.clientId, assertion.jti, assertion.expiresAtNs],
  );
  return rows.length > 0;
}

/** Undefined if the client has too many revoked tokens that have not expired yet. A repetition changes nothing. */
export async function revokeToken(
  tx: Queryable,
  token: { clientId: string; jti: string; expiresAtNs: Instant },
  tokensMax: number,
): Promise<{ readonly isNew: boolean } | undefined> {
  const [row] = await tx.query<{ count: number }>(
    'select count(*)::int as count from revoked_tokens where client_id = $1',
    [token.clientId],
  );
  if (row!.count >= tokensMax) return undefined;
  const added = await tx.query(
    `insert into revoked_tokens (client_id, jti, expires_at_ns) values ($1, $2, $3) on conflict do nothing returning jti`,
    [token.clientId, token.jti, token.expiresAtNs],
  );
  return { isNew: added.length === 1 };
}

/** Deletes what has expired from both tables, up to so many rows each; returns whether there may be more. */
export async function deleteExpired(tx: Queryable, rowsMax: number): Promise<boolean> {
  const [assertions, tokens] = await Promise.all([
    tx.query(
      `delete from used_assertions where (client_id, jti) in (select client_id, jti from used_assertions
       where expires_at_ns < ${CLOCK_NS} order by expires_at_ns limit $1) returning jti`,
      [rowsMax],
    ),
    tx.query(
      `delete from revoked_tokens where (client_id, jti) in (select client_id, jti from revoked_tokens
       where expires_at_ns < ${CLOCK_NS} order by expires_at_ns limit $1) returning jti`,
      [rowsMax],
    ),
  ]);
  return assertions.length === rowsMax || tokens.length === rowsMax;
}
