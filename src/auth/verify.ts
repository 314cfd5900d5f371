import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import type { ClientDirectory } from './clients.ts';
import { type Keyring, SIGNING_ALGORITHM } from './keys.ts';
import { splitScope } from './scopes.ts';
import { ACCESS_TOKEN_TYPE } from './tokens.ts';

/** A token that was valid when it was verified. */
export type Verified = {
  readonly caller: Caller;
  readonly expiresAtMs: number;
  /** The key that signed it. Absent for a token of an external issuer, to which Ferry's keys and clients do not apply. */
  readonly kid?: string;
};

/** Verifies the signature and the claims of a token; throws a problem if it is invalid. */
export type Verify = (token: string) => Promise<Verified>;

export function invalidToken(detail: string): Problem {
  return new Problem('unauthenticated', detail, { error: 'invalid_token' });
}

/** The messages of jose are not passed on: they may quote the token. */
function problemOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalidToken('The access token has expired.');
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
  /** The database's clock, the same for all nodes. */
  readonly clock: Clock;
};

/** The claims of a token with a valid signature, type, issuer, audience and expiry. */
export async function verifyJwt(
  token: string,
  getKey: JWTVerifyGetKey,
  { issuer, audience, algorithms, clock }: Expected,
): Promise<{ claims: JWTPayload & { exp: number; client_id: string }; kid: string | undefined }> {
  try {
    // Before the key is looked up, so that a foreign token never costs a query.
    if (decodeJwt(token).iss !== issuer) throw invalidToken('The access token is from another issuer.');
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      algorithms,
      typ: ACCESS_TOKEN_TYPE,
      issuer,
      audience,
      requiredClaims: ['exp', 'client_id', 'scope'],
      currentDate: new Date(clock.nowMs()),
    });
    if (typeof payload.client_id !== 'string' || typeof payload.scope !== 'string')
      throw invalidToken('The access token is malformed.');
    return {
      claims: payload as JWTPayload & { exp: number; client_id: string },
      kid: protectedHeader.kid,
    };
  } catch (error) {
    throw problemOf(error);
  }
}

export function scopesOf(claims: JWTPayload): ReadonlySet<string> {
  return new Set(splitScope(String(claims.scope)));
}

export function disabledClient(): Problem {
  return invalidToken('The client of this access token is disabled.');
}

/** Tokens that this service issued, on any node. */
export function createOwnVerify(
  keyring: Keyring,
  clients: ClientDirectory,
  clock: Clock,
  publicUrl: () => string,
): Verify {
  const getKey: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await keyring.verificationKey(kid);
    if (key === undefined) throw invalidToken('The access token is signed with an unknown key.');
    return key;
  };
  return async (token) => {
    const url = publicUrl();
    const { claims, kid } = await verifyJwt(token, getKey, {
      issuer: url,
      audience: url,
      algorithms: [SIGNING_ALGORITHM],
      clock,
    });
    const client = await clients.find(claims.client_id);
    if (client === undefined || client.disabled) throw disabledClient();
    const caller: Caller = {
      customerId: client.customerId,
      clientId: client.id,
      scopes: scopesOf(claims),
      integration: client.integration,
    };
    return { caller, expiresAtMs: claims.exp * 1_000, kid: kid! };
  };
}
