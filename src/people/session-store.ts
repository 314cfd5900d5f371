import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import type { Method, Session, Source } from './person.ts';
import type { Role } from './roles.ts';

const ns = (ms: number): bigint => BigInt(ms) * NS_PER_MS;

type Row = Omit<Session, 'source'> & { readonly source: string };

const COLUMNS = `s.id, s.person_id as "personId", p.customer_id as "customerId", s.method, s.source,
  s.created_at_ns as "createdAtNs", s.authenticated_at_ns as "authenticatedAtNs", s.used_at_ns as "usedAtNs",
  s.expires_at_ns as "expiresAtNs"`;

/** A session that has neither expired nor been idle for too long, of a person who is not disabled. */
const ALIVE = `s.expires_at_ns > ${CLOCK_NS} and s.used_at_ns > ${CLOCK_NS} - ${ns(LIMITS.sessionIdleMs)}
  and p.disabled_at_ns is null`;

const placeOf = (id: string): string => `sessions.source:${id}`;
const tokenDigest = (vault: Vault, token: string): string => vault.digester('session')(token);

function opened(vault: Vault, row: Row): Session {
  return { ...row, source: JSON.parse(vault.open(row.source, placeOf(row.id))) as Source };
}

export type NewSession = {
  readonly id: string;
  readonly token: string;
  readonly personId: string;
  readonly method: Method;
  readonly source: Source;
  /** How long ago the person proved who they are; not the sign-in itself, if the OpenID provider knew them already. */
  readonly authenticatedAgoMs: number;
};

export async function insertSession(tx: Transaction, session: NewSession): Promise<void> {
  const { id, token, personId, method, source, authenticatedAgoMs } = session;
  const vault = tx.vault();
  await tx.query(
    `insert into sessions (id, person_id, token_digest, method, source, created_at_ns, authenticated_at_ns, used_at_ns,
                           expires_at_ns)
     select $1, $2, $3, $4, $5, now_ns, now_ns - $6::bigint, now_ns, now_ns + $7::bigint
     from (select ${CLOCK_NS} as now_ns) as clock`,
    [
      id,
      personId,
      tokenDigest(vault, token),
      method,
      vault.seal(JSON.stringify(source), placeOf(id)),
      ns(authenticatedAgoMs),
      ns(LIMITS.sessionMs),
    ],
  );
}

/** Ends the oldest sessions of the person beyond that number. */
export async function endOldestSessions(tx: Transaction, personId: string, kept: number): Promise<void> {
  await tx.query(
    `delete from sessions where id in (
       select id from sessions where person_id = $1 order by created_at_ns desc, id desc offset $2)`,
    [personId, kept],
  );
}

export type LiveSession = {
  readonly id: string;
  readonly personId: string;
  readonly customerId: string | null;
  readonly roles: readonly Role[];
  readonly authenticatedAgoNs: bigint;
  readonly usedAgoNs: bigint;
};

/** Read for every request, so that a session that is revoked on one node is over on all of them. */
export async function sessionByToken(tx: Queryable, token: string): Promise<LiveSession | undefined> {
  const [row] = await tx.query<LiveSession>(
    `select s.id, s.person_id as "personId", p.customer_id as "customerId", p.roles,
            ${CLOCK_NS} - s.authenticated_at_ns as "authenticatedAgoNs", ${CLOCK_NS} - s.used_at_ns as "usedAgoNs"
     from sessions s join people p on p.id = s.person_id where s.token_digest = $1 and ${ALIVE}`,
    [tokenDigest(tx.vault(), token)],
  );
  return row;
}

export async function touchSession(tx: Queryable, id: string): Promise<void> {
  await tx.query(`update sessions set used_at_ns = ${CLOCK_NS} where id = $1`, [id]);
}

/** False if the session has ended in the meantime. */
export async function stepUp(
  tx: Queryable,
  session: { readonly id: string; readonly personId: string },
  authenticatedAgoMs: number,
): Promise<boolean> {
  const rows = await tx.query(
    `update sessions set authenticated_at_ns = greatest(authenticated_at_ns, ${CLOCK_NS} - $3::bigint)
     where id = $1 and person_id = $2 returning id`,
    [session.id, session.personId, ns(authenticatedAgoMs)],
  );
  return rows.length === 1;
}

export async function findSessions(tx: Queryable, personId: string): Promise<Session[]> {
  const rows = await tx.query<Row>(
    `select ${COLUMNS} from sessions s join people p on p.id = s.person_id
     where s.person_id = $1 and ${ALIVE} order by s.created_at_ns desc, s.id desc`,
    [personId],
  );
  return rows.map((row) => opened(tx.vault(), row));
}

/** One session of the person, or all of them. Returns how many have ended. */
export async function endSessions(tx: Queryable, personId: string, sessionId?: string): Promise<number> {
  const rows = await tx.query(
    'delete from sessions where person_id = $1 and ($2 or id = $3::uuid) returning id',
    [personId, sessionId === undefined, sessionId ?? null],
  );
  return rows.length;
}

export async function endSessionOfToken(tx: Queryable, token: string): Promise<void> {
  await tx.query('delete from sessions where token_digest = $1', [tokenDigest(tx.vault(), token)]);
}

/** Deletes what has expired. Returns whether there may be more. */
export async function deleteExpired(tx: Queryable, rowsMax: number): Promise<boolean> {
  const deleted = [
    await tx.query(
      `delete from sessions where id in (select id from sessions where expires_at_ns <= ${CLOCK_NS}
         or used_at_ns <= ${CLOCK_NS} - ${ns(LIMITS.sessionIdleMs)} limit $1) returning id`,
      [rowsMax],
    ),
    await tx.query(
      `delete from used_challenges where challenge in (select challenge from used_challenges
         where expires_at_ns <= ${CLOCK_NS} limit $1) returning challenge`,
      [rowsMax],
    ),
    await tx.query(
      `delete from enrolment_links where person_id in (select person_id from enrolment_links
         where expires_at_ns <= ${CLOCK_NS} limit $1) returning person_id`,
      [rowsMax],
    ),
  ];
  return deleted.some((rows) => rows.length >= rowsMax);
}
