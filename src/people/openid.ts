import type * as OAuth from 'oauth4webapi';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { unavailable } from '../kernel/problem.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { bindAccount } from './administration.ts';
import { personActor } from './changes.ts';
import type { Person } from './person.ts';
import { refused } from './sign-in.ts';
import { peopleByEmail, personBySubject } from './store.ts';

/** The operator's OpenID Connect provider, at which people can sign in instead of with a passkey. */
export type OpenIdProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** As the button on the page names it. */
  readonly name: string;
};

/** A person who wants to prove again who they are, within their session. */
export type SteppingUp = { readonly sessionId: string; readonly personId: string };

/** What the browser keeps, sealed, until the provider sends it back. */
type Pending = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly expiresAtMs: number;
  readonly stepUp?: SteppingUp;
};

export type OpenIdAnswer = {
  readonly issuer: string;
  readonly subject: string;
  /** Only if the provider has verified it. */
  readonly email: string | undefined;
  /** How long ago the person signed in at the provider; undefined if it does not say. */
  readonly authenticatedAgoMs: number | undefined;
  readonly stepUp: SteppingUp | undefined;
};

export type OpenId = {
  readonly name: string;
  /** Where to send the browser, and the value of its cookie. */
  start(redirectUri: string, stepUp?: SteppingUp): Promise<{ url: string; cookie: string }>;
  /** The answer of the provider: the query of the callback. */
  finish(redirectUri: string, query: URLSearchParams, cookie: string | undefined): Promise<OpenIdAnswer>;
};

const PLACE = 'openid sign-in';
const SCOPE = 'openid email';

/** Authorization code flow with PKCE, state and nonce. The provider's metadata is discovered, and its signature verified. */
export function createOpenId(provider: OpenIdProvider, vault: Vault, clock: Clock): OpenId {
  const issuer = new URL(provider.issuer);
  let cached: { server: OAuth.AuthorizationServer; atMs: number } | undefined;

  /** Loaded when the first person uses it. */
  async function open() {
    const oauth = await import('oauth4webapi');
    const options = {
      signal: () => AbortSignal.timeout(LIMITS.openIdTimeoutMs),
      // The configuration refuses http:// in production, unless the operator has allowed it.
      [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
    };
    if (cached === undefined || performance.now() - cached.atMs > LIMITS.openIdMetadataMs) {
      const found = await oauth.discoveryRequest(issuer, options);
      cached = { server: await oauth.processDiscoveryResponse(issuer, found), atMs: performance.now() };
    }
    const { server } = cached;
    const client: OAuth.Client = {
      client_id: provider.clientId,
      // The library reads the wall clock of the node; this is how far the database's clock is from it.
      [oauth.clockSkew]: Math.round((clock.nowMs() - Date.now()) / 1_000),
      [oauth.clockTolerance]: 30,
    };
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authentication = methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(provider.clientSecret)
      : oauth.ClientSecretPost(provider.clientSecret);
    return { oauth, options, server, client, authentication };
  }

  async function reached<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch {
      throw unavailable(`${provider.name} could not be reached. Try again.`, 5);
    }
  }

  function pendingOf(cookie: string | undefined): Pending {
    let pending: Pending;
    try {
      pending = JSON.parse(vault.open(cookie ?? '', PLACE)) as Pending;
    } catch {
      throw refused('This browser did not start this sign-in, or it was finished before. Start again.');
    }
    if (pending.expiresAtMs <= clock.nowMs()) throw refused('The sign-in took too long. Start again.');
    return pending;
  }

  /** The claims about the person: from the signed token, and the address from there or from the provider's own endpoint. */
  async function claimsOf(redirectUri: string, query: URLSearchParams, pending: Pending) {
    const { oauth, options, server, client, authentication } = await reached(open);
    const parameters = oauth.validateAuthResponse(server, client, query, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      redirectUri,
      pending.verifier,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: pending.nonce,
      requireIdToken: true,
      ...(pending.stepUp && { maxAge: LIMITS.openIdAuthTimeMaxSeconds }),
    });
    await oauth.validateApplicationLevelSignature(server, response, options);
    const claims = oauth.getValidatedIdTokenClaims(tokens)!;
    if (claims.email !== undefined || server.userinfo_endpoint === undefined) return claims;
    const found = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    return { ...(await oauth.processUserInfoResponse(server, client, claims.sub, found)), ...claims };
  }

  return {
    name: provider.name,
    async start(redirectUri, stepUp) {
      const { oauth, server } = await reached(open);
      const pending: Pending = {
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        verifier: oauth.generateRandomCodeVerifier(),
        expiresAtMs: clock.nowMs() + LIMITS.openIdSignInMs,
        ...(stepUp && { stepUp }),
      };
      const url = new URL(server.authorization_endpoint!);
      const parameters = {
        client_id: provider.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: SCOPE,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        ...(stepUp && { prompt: 'login', max_age: '0' }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, cookie: vault.seal(JSON.stringify(pending), PLACE) };
    },
    async finish(redirectUri, query, cookie) {
      const pending = pendingOf(cookie);
      const claims = await claimsOf(redirectUri, query, pending).catch((error: unknown) => {
        if ((error as { slug?: unknown }).slug === 'unavailable') throw error;
        throw refused(`${provider.name} did not confirm the sign-in. Start again.`);
      });
      const { sub, email, email_verified: isVerified, auth_time: at } = claims;
      return {
        issuer: provider.issuer,
        subject: sub,
        email: typeof email === 'string' && isVerified === true ? email : undefined,
        authenticatedAgoMs: typeof at === 'number' ? Math.max(0, clock.nowMs() - at * 1_000) : undefined,
        stepUp: pending.stepUp,
      };
    },
  };
}

const UNKNOWN =
  'You have signed in there, but nobody here has this account. Ask an administrator to add you with the email address of that account.';

/**
 * The person who has this account at the provider. At the first sign-in, the verified address finds the person; from then on
 * only the subject counts, which nobody else ever gets. People are never created here.
 */
export async function personOfAnswer(
  database: Database,
  { issuer, subject, email }: OpenIdAnswer,
): Promise<Person> {
  const known = await personBySubject(database, issuer, subject);
  if (known !== undefined) return known;
  if (email === undefined) throw refused(UNKNOWN);
  const found = await peopleByEmail(database, email);
  // A customer can add any address, and must not keep the operator's people out with it.
  const ofOperator = found.filter(({ customerId }) => customerId === null);
  const [person, other] = ofOperator.length === 1 ? ofOperator : found;
  if (person === undefined) throw refused(UNKNOWN);
  if (other !== undefined)
    throw refused('Several people here have your email address. Ask an administrator to name your account.');
  if (await bindAccount(database, person.id, { issuer, subject }, personActor(person))) return person;
  throw refused('The person with your email address has another account there. Ask an administrator.');
}
