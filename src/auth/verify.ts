import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import type { ClientDirectory, ClientState } from './clients.ts';
import { type Keyring, SIGNING_ALGORITHM } from './keys.ts';
import { splitScope } from './scopes.ts';
import { ACCESS_TOKEN_TYPE } from './tokens.ts';

/** A token that was valid when it was verified. */
export type Verified = {
  readonly caller: Caller;
  readonly expiresAtMs: number;
  /** The key that signed it. Absent for a token of an external issuer, to which Ferry's keys do not apply. */
  readonly kid?: string;
  /** Absent for a client of an external issuer that is not registered here. */
  readonly client?: ClientState;
};

/** Verifies the signature and the claims of a token; throws a problem if it is invalid. */
export type Verify = (token: string) => Promise<Verified>;

export function invalidToken(detail: string): Problem {
  return new Problem('unauthenticated', detail, { error: 'invalid_token' });
}

/** The messages of jose are not passed on: they may quote the token. */
function problemOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalidToken('The access token has expired.');
  if (error instanceof errors.JWTClaimValidationFailed && error.reason === 'missing')
    return invalidToken(`The access token has no ${error.claim} claim.`);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalidToken(
      `The access token was not issued for this service: its ${error.claim} claim does not match.`,
    );
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return invalidToken('The signature of the access token is invalid.');
  if (error instanceof errors.JOSEAlgNotAllowed)
    return invalidToken('The access token is signed with an algorithm that is not accepted.');
  if (error instanceof errors.JOSEError) return invalidToken('The access token is malformed.');
  return error;
}

export type Expected = {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: string[];
  /** A token counts for so long after it was issued, whatever expiry it claims. */
  readonly lifetimeSecondsMax: number;
  /** The database's clock, the same for all nodes. */
  readonly clock: Clock;
};

type Claims = JWTPayload & { exp: number; iat: number; client_id: string; scope: string };

type ReadToken<TokenClaims> = {
  readonly claims: TokenClaims;
  readonly kid: string | undefined;
  readonly expiresAtMs: number;
};

function expiryOf({ exp, iat }: Claims, { lifetimeSecondsMax, clock }: Expected): number {
  const nowMs = clock.nowMs();
  // Otherwise a token from the future would live longer than its lifetime.
  if (iat * 1_000 > nowMs + LIMITS.tokenIssuedAheadMaxMs)
    throw invalidToken('The access token was issued in the future.');
  const expiresAtMs = Math.min(exp, iat + lifetimeSecondsMax) * 1_000;
  if (expiresAtMs > nowMs) return expiresAtMs;
  throw invalidToken(
    `The access token is older than ${lifetimeSecondsMax} seconds, the longest that this service accepts.`,
  );
}

/** The claims of a token with a valid signature, type, issuer, audience and expiry. */
export async function verifyJwt(
  token: string,
  getKey: JWTVerifyGetKey,
  expected: Expected,
): Promise<ReadToken<Claims>> {
  const { issuer, audience, algorithms, clock } = expected;
  try {
    // Before the key is looked up, so that a foreign token never costs a query.
    if (decodeJwt(token).iss !== issuer) throw invalidToken('The access token is from another issuer.');
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      algorithms,
      typ: ACCESS_TOKEN_TYPE,
      issuer,
      audience,
      requiredClaims: ['exp', 'iat', 'client_id', 'scope'],
      currentDate: new Date(clock.nowMs()),
    });
    if (typeof payload.client_id !== 'string' || typeof payload.scope !== 'string')
      throw invalidToken('The access token is malformed.');
    const claims = payload as Claims;
    return { claims, kid: protectedHeader.kid, expiresAtMs: expiryOf(claims, expected) };
  } catch (error) {
    throw problemOf(error);
  }
}

/** The scopes of the token that its client still has. A client that is not registered has those that its issuer grants. */
export function scopesOf({ scope }: Claims, client: ClientState | undefined): ReadonlySet<string> {
  const scopes = splitScope(scope);
  return new Set(client === undefined ? scopes : scopes.filter((one) => client.scopes.has(one)));
}

export function disabledClient(): Problem {
  return invalidToken('The client of this access token is disabled.');
}

export type OwnClaims = Claims & { jti: string };

/** A token that this service issued, on any node: its claims, whatever has become of its client since. */
export type ReadOwnToken = (token: string) => Promise<ReadToken<OwnClaims>>;

export function createReadOwnToken(keyring: Keyring, clock: Clock, publicUrl: () => string): ReadOwnToken {
  const getKey: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await keyring.verificationKey(kid);
    if (key === undefined) throw invalidToken('The access token is signed with an unknown key.');
    return key;
  };
  return async (token) => {
    const url = publicUrl();
    const read = await verifyJwt(token, getKey, {
      issuer: url,
      audience: url,
      algorithms: [SIGNING_ALGORITHM],
      lifetimeSecondsMax: LIMITS.accessTokenSeconds,
      clock,
    });
    // Without it, the token could not be revoked.
    if (typeof read.claims.jti !== 'string') throw invalidToken('The access token is malformed.');
    return read as ReadToken<OwnClaims>;
  };
}

/** Tokens that this service issued, on any node. */
export function createOwnVerify(readOwnToken: ReadOwnToken, clients: ClientDirectory): Verify {
  return async (token) => {
    const { claims, kid, expiresAtMs } = await readOwnToken(token);
    const client = await clients.find(claims.client_id);
    if (client === undefined || client.disabled) throw disabledClient();
    if (client.revoked.has(claims.jti)) throw invalidToken('The access token was revoked.');
    const caller: Caller = {
      customerId: client.customerId,
      clientId: client.id,
      name: client.name,
      ownerPersonId: client.ownerPersonId,
      scopes: scopesOf(claims, client),
      integration: client.integration,
      pointsPerSecond: client.pointsPerSecond,
    };
    return { caller, expiresAtMs, kid: kid!, client };
  };
}
