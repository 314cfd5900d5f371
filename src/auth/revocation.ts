import type { Database } from '../database/database.ts';
import { recordChange } from '../events/append.ts';
import { actorOf } from '../kernel/actor.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { ClientDirectory } from './clients.ts';
import { type Authenticable, revokeToken } from './credential-store.ts';
import { type Form, invalidRequest, TokenError } from './token-request.ts';
import type { ReadOwnToken } from './verify.ts';

export type RevocationParts = {
  readonly database: Database;
  readonly clients: ClientDirectory;
  readonly readOwnToken: ReadOwnToken;
};

/** Before the client is authenticated. */
export function checkRevocation(form: Form): void {
  if (form.get('token') === undefined) throw invalidRequest('The parameter token is missing.');
}

/** Undefined if the token is not valid anyway. */
async function readIfValid({ readOwnToken }: RevocationParts, token: string) {
  try {
    return await readOwnToken(token);
  } catch (error) {
    if (error instanceof Problem && error.slug === 'unauthenticated') return undefined;
    throw error;
  }
}

type Owner = Pick<Authenticable, 'id' | 'customerId'>;

/** False if the client has too many revoked tokens. On this node the token is invalid when this resolves, on the others within seconds. */
async function revoke(
  parts: RevocationParts,
  client: Owner,
  { claims, expiresAtMs }: Awaited<ReturnType<ReadOwnToken>>,
): Promise<boolean> {
  // A little longer than the token is valid, because the clocks of nodes differ by milliseconds.
  const expiresAtNs = BigInt(expiresAtMs + LIMITS.signingKeyGraceMs) * NS_PER_MS;
  const token = { clientId: client.id, jti: claims.jti, expiresAtNs };
  const isRevoked = await parts.database.transaction(async (tx) => {
    const revoked = await revokeToken(tx, token, LIMITS.revokedTokensMax);
    if (revoked === undefined || !revoked.isNew) return revoked !== undefined;
    const { id: clientId, customerId } = client;
    await recordChange(tx, actorOf({ clientId, customerId }), {
      action: 'token.revoked',
      customerId,
      resourceId: claims.jti,
      after: { client_id: clientId, jti: claims.jti },
    });
    return true;
  });
  if (isRevoked) await parts.clients.changed(client.id);
  return isRevoked;
}

/** RFC 7009. */
export async function answerRevocation(
  parts: RevocationParts,
  client: Authenticable,
  form: Form,
): Promise<object> {
  const read = await readIfValid(parts, form.get('token')!);
  // Section 2.2: an unknown or expired token is not an error, its client has what it wanted.
  if (read === undefined) return {};
  if (read.claims.client_id !== client.id)
    throw new TokenError('invalid_grant', 'The token was issued to another client.');
  if (!(await revoke(parts, client, read))) {
    const description = `The client has ${LIMITS.revokedTokensMax} revoked tokens that have not expired yet. Disable it to revoke all of its tokens.`;
    throw new TokenError('temporarily_unavailable', description, 429, LIMITS.accessTokenSeconds);
  }
  return {};
}

export type RevokeToken = (token: string) => Promise<void>;

/** By the holder of the token, who signs out. Of a client with too many revoked tokens, it expires by itself. */
export const createRevokeToken =
  (parts: RevocationParts): RevokeToken =>
  async (token) => {
    const read = await readIfValid(parts, token);
    const client = read && (await parts.clients.find(read.claims.client_id));
    if (read === undefined || client === undefined) return;
    await revoke(parts, { id: read.claims.client_id, customerId: client.customerId }, read);
  };
