import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import type { Passkey } from './person.ts';

const COLUMNS = `k.id, k.person_id as "personId", k.credential_id as "credentialId", k.public_key as "publicKey", k.counter,
  k.name, k.created_at_ns as "createdAtNs", k.used_at_ns as "usedAtNs"`;

const placeOf = (id: string): string => `passkeys.name:${id}`;

function opened(vault: Vault, row: Passkey): Passkey {
  return { ...row, name: vault.open(row.name, placeOf(row.id)) };
}

export async function passkeyByCredential(tx: Queryable, credentialId: string): Promise<Passkey | undefined> {
  const [row] = await tx.query<Passkey>(`select ${COLUMNS} from passkeys k where k.credential_id = $1`, [
    credentialId,
  ]);
  return row && opened(tx.vault(), row);
}

export async function passkeysOf(tx: Queryable, personId: string): Promise<Passkey[]> {
  const rows = await tx.query<Passkey>(
    `select ${COLUMNS} from passkeys k where k.person_id = $1 order by k.created_at_ns, k.id`,
    [personId],
  );
  return rows.map((row) => opened(tx.vault(), row));
}

export type NewPasskey = Pick<Passkey, 'id' | 'personId' | 'credentialId' | 'publicKey' | 'counter' | 'name'>;

/** False if the credential is registered already. */
export async function insertPasskey(tx: Transaction, passkey: NewPasskey): Promise<boolean> {
  const { id, personId, credentialId, publicKey, counter, name } = passkey;
  const rows = await tx.query(
    `insert into passkeys (id, person_id, credential_id, public_key, counter, name, created_at_ns)
     values ($1, $2, $3, $4, $5, $6, ${CLOCK_NS}) on conflict do nothing returning id`,
    [id, personId, credentialId, publicKey, counter, tx.vault().seal(name, placeOf(id))],
  );
  return rows.length === 1;
}

/**
 * The counter of an authenticator only grows; many always report 0. False if it has not grown: another sign-in was faster, or
 * the passkey was copied.
 */
export async function advanceCounter(tx: Transaction, id: string, counter: bigint): Promise<boolean> {
  const rows = await tx.query(
    `update passkeys set counter = $2, used_at_ns = ${CLOCK_NS}
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning id`,
    [id, counter],
  );
  return rows.length === 1;
}

export async function renamePasskey(
  tx: Queryable,
  personId: string,
  id: string,
  name: string,
): Promise<boolean> {
  const rows = await tx.query('update passkeys set name = $3 where id = $1 and person_id = $2 returning id', [
    id,
    personId,
    tx.vault().seal(name, placeOf(id)),
  ]);
  return rows.length === 1;
}

export async function deletePasskey(tx: Transaction, personId: string, id: string): Promise<boolean> {
  const rows = await tx.query('delete from passkeys where id = $1 and person_id = $2 returning id', [
    id,
    personId,
  ]);
  return rows.length === 1;
}

export async function deletePasskeys(tx: Transaction, personId: string): Promise<void> {
  await tx.query('delete from passkeys where person_id = $1', [personId]);
}

/** False if the challenge was answered before, on this node or another one. */
export async function useChallenge(
  tx: Transaction,
  challenge: string,
  expiresAtMs: number,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into used_challenges (challenge, expires_at_ns) values ($1, $2)
     on conflict do nothing returning challenge`,
    // A little longer than it is valid, because the clocks of nodes differ by milliseconds.
    [challenge, BigInt(expiresAtMs + LIMITS.challengeMs) * NS_PER_MS],
  );
  return rows.length === 1;
}

const linkDigest = (vault: Vault, token: string): string => vault.digester('enrolment link')(token);

/** Replaces the one before. Returns when it expires. */
export async function replaceLink(tx: Transaction, personId: string, token: string): Promise<bigint> {
  const [row] = await tx.query<{ expiresAtNs: bigint }>(
    `insert into enrolment_links (person_id, token_digest, created_at_ns, expires_at_ns)
     select $1, $2, now_ns, now_ns + $3::bigint from (select ${CLOCK_NS} as now_ns) as clock
     on conflict (person_id) do update set token_digest = excluded.token_digest,
       created_at_ns = excluded.created_at_ns, expires_at_ns = excluded.expires_at_ns
     returning expires_at_ns as "expiresAtNs"`,
    [personId, linkDigest(tx.vault(), token), BigInt(LIMITS.enrolmentLinkMs) * NS_PER_MS],
  );
  return row!.expiresAtNs;
}

/** The person whose link it is, if it has not expired. */
export async function personOfLink(tx: Queryable, token: string): Promise<string | undefined> {
  const [row] = await tx.query<{ personId: string }>(
    `select person_id as "personId" from enrolment_links where token_digest = $1 and expires_at_ns > ${CLOCK_NS}`,
    [linkDigest(tx.vault(), token)],
  );
  return row?.personId;
}

/** False if it was used or replaced in the meantime. */
export async function useLink(tx: Transaction, token: string): Promise<boolean> {
  const rows = await tx.query(
    `delete from enrolment_links where token_digest = $1 and expires_at_ns > ${CLOCK_NS} returning person_id`,
    [linkDigest(tx.vault(), token)],
  );
  return rows.length === 1;
}

export async function hasLink(tx: Queryable, personId: string): Promise<boolean> {
  const rows = await tx.query(
    `select person_id from enrolment_links where person_id = $1 and expires_at_ns > ${CLOCK_NS}`,
    [personId],
  );
  return rows.length === 1;
}

export async function deleteLink(tx: Transaction, personId: string): Promise<void> {
  await tx.query('delete from enrolment_links where person_id = $1', [personId]);
}
