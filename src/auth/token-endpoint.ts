import type { Clock } from '../kernel/clock.ts';
import type { Authenticable } from './credential-store.ts';
import type { Keyring } from './keys.ts';
import { splitScope } from './scopes.ts';
import type { TakeToken } from './token-rate.ts';
import { type Form, invalidRequest, TokenError } from './token-request.ts';
import { issueToken } from './tokens.ts';

export type TokenParts = {
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly takeToken: TakeToken;
  publicUrl(): string;
};

function grantedScopes(client: Authenticable, asked: string | undefined): readonly string[] {
  const scopes = splitScope(asked ?? '');
  if (scopes.length === 0) return client.scopes;
  const refused = scopes.filter((scope) => !client.scopes.includes(scope));
  if (refused.length > 0) {
    throw new TokenError(
      'invalid_scope',
      `The client may not have the requested scope. Its scopes are: ${client.scopes.join(' ')}.`,
    );
  }
  return scopes;
}

/** Before the client is authenticated: a mistake in the program is not a wrong secret. */
export function checkGrant(form: Form): void {
  const grantType = form.get('grant_type');
  if (grantType === undefined) throw invalidRequest('The parameter grant_type is missing.');
  if (grantType !== 'client_credentials') {
    throw new TokenError('unsupported_grant_type', 'The grant_type must be client_credentials.');
  }
}

export async function answerToken(
  { keyring, clock, takeToken, publicUrl }: TokenParts,
  client: Authenticable,
  form: Form,
): Promise<object> {
  const scopes = grantedScopes(client, form.get('scope'));
  takeToken(client.id);
  const issued = await issueToken(keyring, clock, publicUrl(), client, scopes);
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresInSeconds,
    scope: issued.scope,
  };
}
