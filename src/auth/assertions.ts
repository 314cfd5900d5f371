import { errors, type JWK, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import type { Queryable } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { NS_PER_SECOND } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { ASSERTION_ALGORITHMS, algorithmsOf } from './client-keys.ts';
import { type Authenticable, useAssertion } from './credential-store.ts';
import { invalidClient } from './token-request.ts';

/** Whether it was really the client: RFC 7523 section 3. Throws `invalid_client` otherwise. */
export type CheckAssertion = (assertion: string, client: Authenticable | undefined) => Promise<void>;

const UNKNOWN = 'The client is unknown, or the assertion is not signed with one of its keys.';

/** Only one key is ever tried, so that a forged assertion costs one verification. */
function keyFor({ keys }: Authenticable, { kid, alg }: JWTHeaderParameters): JWK {
  const fitting = keys.filter(
    (key) => (kid === undefined || key.kid === kid) && algorithmsOf(key).includes(alg),
  );
  const [key] = fitting;
  if (key === undefined) throw invalidClient(UNKNOWN);
  if (fitting.length > 1)
    throw invalidClient('The client has several keys: name one in the kid of the assertion.');
  return key;
}

/** The messages of jose are not passed on: they may quote the assertion. Claims are checked after the signature. */
function errorOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalidClient('The assertion has expired.');
  if (error instanceof errors.JWTClaimValidationFailed)
    return invalidClient(`The ${error.claim} claim of the assertion is missing or wrong.`);
  if (error instanceof errors.JOSEError) return invalidClient(UNKNOWN);
  return error;
}

/** The id makes an assertion usable once; the expiry bounds how long the id has to be remembered. */
async function useOnce(database: Queryable, client: Authenticable, { exp, jti }: JWTPayload): Promise<void> {
  if (typeof jti !== 'string' || jti.length > LIMITS.assertionIdLengthMax || !/^[\x20-\x7e]+$/.test(jti)) {
    throw invalidClient(
      `The jti of the assertion must have 1 to ${LIMITS.assertionIdLengthMax} printable ASCII characters.`,
    );
  }
  const expiresAtNs = BigInt(Math.ceil(exp!) + LIMITS.assertionToleranceSeconds) * NS_PER_SECOND;
  if (!(await useAssertion(database, { clientId: client.id, jti, expiresAtNs })))
    throw invalidClient(
      'The assertion was used before. Sign a new one, with another jti, for every request.',
    );
}

export function createCheckAssertion(
  database: Queryable,
  clock: Clock,
  audiences: () => string[],
): CheckAssertion {
  return async (assertion, client) => {
    if (client === undefined) throw invalidClient(UNKNOWN);
    const nowMs = clock.nowMs();
    const { payload } = await jwtVerify(assertion, async (header) => keyFor(client, header), {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: client.id,
      subject: client.id,
      audience: audiences(),
      requiredClaims: ['exp', 'jti'],
      clockTolerance: LIMITS.assertionToleranceSeconds,
      currentDate: new Date(nowMs),
    }).catch((error: unknown) => {
      throw errorOf(error);
    });
    if (payload.exp! > nowMs / 1_000 + LIMITS.assertionSeconds + LIMITS.assertionToleranceSeconds)
      throw invalidClient(
        `The exp of the assertion must be at most ${LIMITS.assertionSeconds} seconds ahead.`,
      );
    await useOnce(database, client, payload);
  };
}
