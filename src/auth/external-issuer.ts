import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import type { Queryable } from '../database/database.ts';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { findCustomer } from './customers.ts';
import { invalidToken, scopesOf, type Verify, verifyJwt } from './verify.ts';

/**
 * Somebody else's authorization server instead of our own. Then this service issues no tokens, accepts none of its
 * own, and its clients table means nothing: who may have a token, and when it ends, is the issuer's to say. Tokens
 * must be of RFC 9068's kind (typ at+jwt, client_id, scope) and signed with EdDSA or ES256.
 */
export type ExternalIssuer = {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** What the issuer calls us in `aud`. */
  readonly audience: string;
  /** The claim whose value is the id or the name of a customer here. */
  readonly customerClaim: string;
};

export function createExternalVerify(database: Queryable, external: ExternalIssuer): Verify {
  const remoteKey = createRemoteJWKSet(new URL(external.jwksUrl), {
    cooldownDuration: LIMITS.externalKeysCooldownMs,
    timeoutDuration: LIMITS.externalKeysTimeoutMs,
  });
  const getKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await remoteKey(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
        throw invalidToken('The access token is signed with an unknown key.');
      }
      // Their server is away or answers nonsense: the token may be good, so this is no 401.
      throw unavailable('The keys of the token issuer cannot be fetched now.', 5);
    }
  };
  const { issuer, audience } = external;
  return async (token) => {
    const { claims } = await verifyJwt(token, getKey, { issuer, audience, algorithms: ['EdDSA', 'ES256'] });
    const named = claims[external.customerClaim];
    const customer = typeof named === 'string' ? await findCustomer(database, named) : undefined;
    if (customer === undefined) {
      throw invalidToken(`The access token's ${external.customerClaim} names no customer of this service.`);
    }
    return {
      caller: {
        customerId: customer.id,
        clientId: claims.client_id,
        scopes: scopesOf(claims),
        integration: customer.integration,
      },
      expiresAtMs: Math.min(claims.exp * 1_000, Date.now() + LIMITS.externalTokenMs),
    };
  };
}
