import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RevokeToken } from '../auth/revocation.ts';
import type { Database } from '../database/database.ts';
import { type SourceOf, sourceKey } from '../kernel/source-address.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { createCountAttempt } from './attempts.ts';
import type { Callers } from './callers.ts';
import type { OpenId } from './openid.ts';
import type { Passkeys } from './passkeys.ts';
import type { Source } from './person.ts';
import type { Place } from './place.ts';
import { type SignIn, signIn } from './sign-in.ts';

/**
 * What the pages under /signin call. These are not operations: they work only in a browser on a page of the service, and the
 * operations under /v2 accept the session that they start.
 */
export type SignInParts = {
  readonly database: Database;
  readonly vault: Vault;
  readonly place: () => Place;
  readonly callers: Callers;
  readonly passkeys: Passkeys;
  /** Undefined without a provider in the configuration. */
  readonly openId: OpenId | undefined;
  /** Whether the people of the demo can be entered. */
  readonly hasDemo: boolean;
  readonly sourceOf: SourceOf;
  /** Of a client that is used in a browser. */
  readonly revokeToken: RevokeToken;
};

export type Endpoints = SignInParts & {
  /** Counts the request against its source; throws a problem. */
  count(request: FastifyRequest): void;
  sourceOfRequest(request: FastifyRequest): Source;
  /** Sets the cookie of a new session. */
  enter(reply: FastifyReply, token: string): void;
  /** Starts a session instead of the one that the browser had. */
  signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    how: Pick<SignIn, 'personId' | 'method'>,
  ): Promise<void>;
};

export const TOKEN = { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' } as const;
export const NAME = { type: 'string', minLength: 1, maxLength: LIMITS.passkeyNameLengthMax } as const;
/** An answer of `navigator.credentials`; the library checks the rest. */
export const CREDENTIAL = {
  type: 'object',
  required: ['id', 'response'],
  properties: {
    id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,1400}$' },
    response: { type: 'object' },
  },
} as const;

export function bodyOf(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', required: Object.keys(properties), properties, additionalProperties: false };
}

export function createEndpoints(parts: SignInParts): Endpoints {
  const { database, place, callers, sourceOf } = parts;
  const countAttempt = createCountAttempt();
  const addressOf = ({ raw, headers }: FastifyRequest): string | undefined =>
    sourceOf(raw.socket, headers['x-forwarded-for']);
  const sourceOfRequest = (request: FastifyRequest): Source => ({
    address: addressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, LIMITS.userAgentLengthMax),
  });
  const enter = (reply: FastifyReply, token: string): void => {
    const { cookie, sessionCookie } = place();
    reply.header('set-cookie', cookie(sessionCookie, token, { sameSite: 'Strict' }));
  };
  return {
    ...parts,
    count: (request) => countAttempt(sourceKey(addressOf(request))),
    sourceOfRequest,
    enter,
    async signIn(request, reply, how) {
      const previousToken = callers.tokenOf(request.raw);
      enter(reply, await signIn(database, { ...how, source: sourceOfRequest(request), previousToken }));
    },
  };
}
