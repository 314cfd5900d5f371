import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import type { ClientDirectory } from './clients.ts';
import { type Keyring, SIGNING_ALGORITHM } from './keys.ts';
import { splitScope } from './scopes.ts';
import { ACCESS_TOKEN_TYPE } from './tokens.ts';

/** A token that was good when it was looked at. */
export type Verified = {
  readonly caller: Caller;
  readonly expiresAtMs: number;
  /** Absent when somebody else issued the token: then neither our keys nor our clients say more about it. */
  readonly kid?: string;
};

/** Looks at the signature and all that a token claims; throws a problem when it is not good. */
export type Verify = (token: string) => Promise<Verified>;

export function invalidToken(detail: string): Problem {
  return new Problem('unauthenticated', detail, { error: 'invalid_token' });
}

/** jose's words are not passed on: they are about JOSE, and may quote the token. */
function problemOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalidToken('The access token has expired.');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalidToken(`The access token was not made for this service: its ${error.claim} does not fit.`);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return invalidToken("The access token's signature is wrong.");
  if (error instanceof errors.JOSEAlgNotAllowed)
    return invalidToken('The access token is signed with an algorithm that is not accepted.');
  if (error instanceof errors.JOSEError) return invalidToken('The access token is malformed.');
  return error;
}

export type Expected = {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: string[];
  /** The database's, the same on all nodes. */
  readonly clock: Clock;
};

/** The claims of a token that is signed, of the right kind, from the right issuer, for us and not expired. */
export async function verifyJwt(
  token: string,
  getKey: JWTVerifyGetKey,
  { issuer, audience, algorithms, clock }: Expected,
): Promise<{ claims: JWTPayload & { exp: number; client_id: string }; kid: string | undefined }> {
  try {
    // Before a key is looked for: a foreign token, however often it is sent, does not cost a query.
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
