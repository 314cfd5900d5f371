import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import type { Queryable } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
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

/**
 * The issuer's keys: fetched again when they are old, or when a token names one that is not among them. By a monotonic
 * clock: jose's own ages go by the wall clock, and one that is set back would keep new keys out for as long.
 */
function createRemoteKeys(url: URL): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(url, {
    cooldownDuration: Number.POSITIVE_INFINITY,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    timeoutDuration: LIMITS.externalKeysTimeoutMs,
  });
  let fetchedAtMs = Number.NEGATIVE_INFINITY;

  async function fetchUnlessYoungerThan(ageMs: number): Promise<boolean> {
    if (performance.now() - fetchedAtMs < ageMs) return false;
    await keys.reload();
    fetchedAtMs = performance.now();
    return true;
  }

  return async (header, token) => {
    await fetchUnlessYoungerThan(LIMITS.externalKeysMs);
    try {
      return await keys(header, token);
    } catch (error) {
      const isNew = error instanceof errors.JWKSNoMatchingKey;
      if (!isNew || !(await fetchUnlessYoungerThan(LIMITS.externalKeysCooldownMs))) throw error;
      return keys(header, token);
    }
  };
}

export function createExternalVerify(database: Queryable, clock: Clock, external: ExternalIssuer): Verify {
  const remoteKey = createRemoteKeys(new URL(external.jwksUrl));
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
    const expected = { issuer, audience, algorithms: ['EdDSA', 'ES256'], clock };
    const { claims } = await verifyJwt(token, getKey, expected);
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
      expiresAtMs: Math.min(claims.exp * 1_000, clock.nowMs() + LIMITS.externalTokenMs),
    };
  };
}
