import type { IncomingMessage } from 'node:http';
import type { Authenticate } from '../auth/authenticate.ts';
import { findCustomer } from '../auth/customers.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../kernel/id.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { type Caller, OPERATOR_ID } from '../kernel/route.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { clientTokenOf } from './client-session.ts';
import { crossSiteFault, type Place, readCookie } from './place.ts';
import { scopesOf } from './roles.ts';
import { type LiveSession, sessionByToken, touchSession } from './session-store.ts';

export type SessionRequest = Pick<IncomingMessage, 'method' | 'headers'> &
  Partial<Pick<IncomingMessage, 'socket'>>;

export type Callers = {
  /** The token in the cookie of a request, whether it is one of a session or not. */
  tokenOf(request: SessionRequest): string | undefined;
  /** Its session, if it is alive. Throws a problem for a request of somebody else's page. */
  sessionOf(request: SessionRequest): Promise<LiveSession | undefined>;
  /** The person, or the client that is used in a browser, as a caller of operations; undefined without a cookie of either. */
  signedIn(request: SessionRequest): Promise<Caller | undefined>;
};

/** A person of the operator names the customer whose data they look at. */
const CUSTOMER_HEADER = 'ferry-customer';

export function noSession(): Problem {
  return new Problem('unauthenticated', 'The session has ended: sign in again at /signin.', {
    error: 'invalid_token',
  });
}

export type CallersOptions = {
  readonly database: Database;
  readonly vault: Vault;
  readonly place: () => Place;
  readonly simulates: boolean;
  /** Of clients, by their access tokens. */
  readonly authenticate: Authenticate;
};

export function createCallers({ database, vault, place, simulates, authenticate }: CallersOptions): Callers {
  function tokenOf({ headers }: SessionRequest): string | undefined {
    return readCookie(headers.cookie, place().sessionCookie);
  }

  async function sessionOf(request: SessionRequest): Promise<LiveSession | undefined> {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const fault = crossSiteFault(request, place());
    if (fault !== undefined) throw new Problem('forbidden', fault);
    const session = await sessionByToken(database, token);
    if (session !== undefined && session.usedAgoNs > BigInt(LIMITS.sessionUsedMs) * NS_PER_MS)
      await touchSession(database, session.id);
    return session;
  }

  async function clientOf(request: SessionRequest): Promise<Caller | undefined> {
    const token = clientTokenOf(vault, place(), request.headers.cookie);
    if (token === undefined) return undefined;
    const fault = crossSiteFault(request, place());
    if (fault !== undefined) throw new Problem('forbidden', fault);
    return authenticate(`Bearer ${token}`, request.socket, request.headers['x-forwarded-for']);
  }

  /** The customer whose data the request is about, for a person of the operator; undefined if about none. */
  function lookedAt({ headers }: SessionRequest): string | undefined {
    const named = headers[CUSTOMER_HEADER];
    if (named !== undefined && !isId(named))
      throw invalidField(`/headers/${CUSTOMER_HEADER}`, 'must be the id of a customer');
    return named;
  }

  return {
    tokenOf,
    sessionOf,
    async signedIn(request) {
      if (tokenOf(request) === undefined) return clientOf(request);
      const session = await sessionOf(request);
      if (session === undefined) throw noSession();
      const { personId, roles, customerId: own } = session;
      const isOperator = own === null;
      const customerId = own ?? lookedAt(request);
      const customer = customerId === undefined ? undefined : await findCustomer(database, customerId);
      if (customerId !== undefined && customer === undefined) throw notFound('customer', customerId);
      const looksAtCustomer = isOperator && customer !== undefined;
      return {
        customerId: customerId ?? OPERATOR_ID,
        clientId: personId,
        kind: 'person',
        scopes: scopesOf({ roles, isOperator, looksAtCustomer, simulates }),
        integration: customer?.integration ?? 'FIRST_PARTY',
        pointsPerSecond: customer?.pointsPerSecond ?? undefined,
        person: {
          id: personId,
          sessionId: session.id,
          roles,
          isOperator,
          authenticatedAgoMs: Number(session.authenticatedAgoNs / NS_PER_MS),
        },
      };
    },
  };
}
