import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import type { Queryable } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { ClientDirectory } from './clients.ts';
import { findCustomer } from './customers.ts';
import { isClientId } from './secrets.ts';
import { disabledClient, invalidToken, scopesOf, type Verify, verifyJwt } from './verify.ts';

/**
 * An external authorization server instead of the built-in one. The service then issues no tokens and accepts none of its
 * own: the issuer decides who gets a token. Tokens must follow RFC 9068 (typ at+jwt, client_id, scope, iat) and be signed
 * with EdDSA or ES256. A client of the issuer can be registered here under its id: then its scopes, its addresses and
 * whether it is disabled count as for any other client.
 */
export type ExternalIssuer = {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** The `aud` claim of tokens for this service. */
  readonly audience: string;
  /** The claim that holds the id or the name of the customer. */
  readonly customerClaim: string;
};

/**
 * The issuer's keys, fetched again when they are old or when a token names an unknown one. Their age is measured with a
 * monotonic clock: jose uses the wall clock, and if that is set back, jose would not fetch new keys for as long.
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

export function createExternalVerify(
  database: Queryable,
  clients: ClientDirectory,
  clock: Clock,
  external: ExternalIssuer,
): Verify {
  const remoteKey = createRemoteKeys(new URL(external.jwksUrl));
  const getKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await remoteKey(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
        throw invalidToken('The access token is signed with an unknown key.');
      }
      // The issuer is unavailable or its answer is invalid. The token may be valid, so this is not a 401.
      throw unavailable('The keys of the token issuer could not be fetched. Retry the request.', 5);
    }
  };
  const { issuer, audience } = external;
  return async (token) => {
    const { claims, expiresAtMs } = await verifyJwt(token, getKey, {
      issuer,
      audience,
      algorithms: ['EdDSA', 'ES256'],
      lifetimeSecondsMax: LIMITS.externalTokenSecondsMax,
      clock,
    });
    const named = claims[external.customerClaim];
    const customer = typeof named === 'string' ? await findCustomer(database, named) : undefined;
    if (customer === undefined) {
      throw invalidToken(
        `The ${external.customerClaim} claim of the access token names no customer of this service.`,
      );
    }
    const client = isClientId(claims.client_id) ? await clients.find(claims.client_id) : undefined;
    if (client?.disabled === true) throw disabledClient();
    if (client !== undefined && client.customerId !== customer.id) {
      throw invalidToken(
        `The ${external.customerClaim} claim of the access token names another customer than that of its client.`,
      );
    }
    return {
      caller: {
        customerId: customer.id,
        clientId: claims.client_id,
        ...(client && { name: client.name, ownerPersonId: client.ownerPersonId }),
        scopes: scopesOf(claims, client),
        integration: customer.integration,
        pointsPerSecond: customer.pointsPerSecond ?? undefined,
      },
      expiresAtMs: Math.min(expiresAtMs, clock.nowMs() + LIMITS.externalTokenMs),
      ...(client && { client }),
    };
  };
}
