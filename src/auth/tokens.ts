import { SignJWT } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import { type Keyring, SIGNING_ALGORITHM } from './keys.ts';
import type { Client } from './store.ts';

/** RFC 9068. A token names the service as issuer and as audience: it is made for this service only. */
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
  client: Pick<Client, 'id' | 'customerId'>,
  scopes: readonly string[],
): Promise<IssuedToken> {
  const { kid, privateKey } = await keyring.signingKey();
  // The database's time, by which all nodes verify: a token of a node whose clock is wrong is as good as any other.
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
