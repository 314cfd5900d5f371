import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Vault } from '../kernel/vault.ts';
import { bodyOf, type Endpoints } from './endpoint.ts';
import { type Place, readCookie } from './place.ts';
import { endSessionOfToken } from './session-store.ts';
import { refused } from './sign-in.ts';

/**
 * A client that is used in a browser, with its id and secret. The page never gets the access token: the cookie has it sealed, so only
 * the service can read it, and no script of the page can read the cookie. Any node can open it, and it ends with the token.
 */
const SEALED_FOR = 'cookie of a client';

export function sealToken(vault: Vault, token: string): string {
  return vault.seal(token, SEALED_FOR);
}

/** The access token in the cookie of a client; undefined if there is none, or if it was not sealed by this service. */
export function clientTokenOf(vault: Vault, place: Place, cookies: string | undefined): string | undefined {
  const sealed = readCookie(cookies, place.clientCookie);
  if (sealed === undefined) return undefined;
  try {
    return vault.open(sealed, SEALED_FOR);
  } catch {
    // Another key has sealed it, or somebody has changed it: the same as no cookie.
    return undefined;
  }
}

const TEXT = { type: 'string', minLength: 1, maxLength: 200 } as const;

type Issued = { readonly access_token: string; readonly expires_in: number };

/** Through the token endpoint: its limits, its lists of addresses and its record of failures hold here as well. */
async function issue(app: FastifyInstance, request: FastifyRequest): Promise<Issued> {
  const { client_id: id, client_secret: secret } = request.body as Record<
    'client_id' | 'client_secret',
    string
  >;
  const credentials = [id, secret].map(encodeURIComponent).join(':');
  const { 'x-forwarded-for': forwardedFor } = request.headers;
  const answer = await app.inject({
    method: 'POST',
    url: '/oauth2/token',
    remoteAddress: request.raw.socket.remoteAddress ?? '127.0.0.1',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    },
    payload: 'grant_type=client_credentials',
  });
  const body = answer.json<Issued & { readonly error_description?: string; readonly detail?: string }>();
  if (answer.statusCode !== 200)
    throw refused(body.error_description ?? body.detail ?? 'The client id or the secret is wrong.');
  return body;
}

export function registerClientSignIn(
  app: FastifyInstance,
  root: FastifyInstance,
  { database, vault, place, count, callers }: Endpoints,
): void {
  app.post(
    '/signin/client',
    { schema: { body: bodyOf({ client_id: TEXT, client_secret: TEXT }) } },
    async (request, reply) => {
      count(request);
      const { access_token: token, expires_in: seconds } = await issue(root, request);
      const previous = callers.tokenOf(request.raw);
      if (previous !== undefined) await database.transaction((tx) => endSessionOfToken(tx, previous));
      const { cookie, clientCookie, sessionCookie } = place();
      reply.header('set-cookie', [
        cookie(clientCookie, sealToken(vault, token), { sameSite: 'Strict', seconds }),
        // A person who was signed in here is not any more: one browser acts for one.
        cookie(sessionCookie, '', { sameSite: 'Strict', seconds: 0 }),
      ]);
      return {};
    },
  );
}
