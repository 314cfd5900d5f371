import { SignJWT } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import { type Keyring, SIGNING_ALGORITHM } from './keys.ts';

/** RFC 9068. The service is both issuer and audience of its tokens. */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

export type IssuedToken = {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly scope: string;
};

export async function issueToken(
  keyring: Keyring,
  clock: Clock,
  publicUrl: string,
  client: { readonly id: string; readonly customerId: string },
  scopes: readonly string[],
): Promise<IssuedToken> {
  const { kid, privateKey } = await keyring.signingKey();
  // The database's clock, by which all nodes verify, so the wall clock of this node does not matter.
  const issuedAt = Math.floor(clock.nowMs() / 1_000);
  const scope = scopes.join(' ');
  const accessToken = await new SignJWT({ client_id: client.id, scope, customer_id: client.customerId })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid })
    .setIssuer(publicUrl)
    .setSubject(client.id)
    .setAudience(publicUrl)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIMITS.accessTokenSeconds)
    .setJti(newId())
    .sign(privateKey);
  return { accessToken, expiresInSeconds: LIMITS.accessTokenSeconds, scope };
}
