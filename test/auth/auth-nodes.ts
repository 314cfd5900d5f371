import type { FastifyInstance } from 'fastify';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { pino } from 'pino';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { type Auth, type AuthTiming, createAuth } from '../../src/auth/auth.ts';
import type { ExternalIssuer } from '../../src/auth/external-issuer.ts';
import { trustedKeys } from '../../src/auth/store.ts';
import type { Database } from '../../src/database/database.ts';
import { createServerClock } from '../../src/database/server-clock.ts';
import { createApp } from '../../src/http/app.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Problem } from '../../src/kernel/problem.ts';
import { type Caller, route } from '../../src/kernel/route.ts';
import { createSourceOf } from '../../src/kernel/source-address.ts';
import { Type } from '../../src/kernel/type.ts';
import { problemOf } from '../support/ledger.ts';
import { testVault } from '../support/vault.ts';

export type AuthNode = {
  auth: Auth;
  app: FastifyInstance;
  url: string;
  /** Everything that was logged, as one text. */
  logs(): string;
  stop(): Promise<void>;
};

const whoAmI = route({
  method: 'GET',
  path: '/v2/who-am-i',
  operationId: 'whoAmI',
  tag: 'Test',
  summary: 'Who is calling',
  scope: 'transfer:read_transfer',
  response: Type.Object({ customer_id: Type.String(), client_id: Type.String(), integration: Type.String() }),
  problems: [],
  handle: async ({ caller }) => ({
    body: { customer_id: caller.customerId, client_id: caller.clientId, integration: caller.integration },
  }),
});

const echo = route({
  method: 'POST',
  path: '/v2/echo',
  operationId: 'echo',
  tag: 'Test',
  summary: 'Answer with what came in',
  scope: 'transfer:read_transfer',
  body: Type.Object({ text: Type.String() }),
  response: Type.Object({ text: Type.String() }),
  problems: [],
  handle: async ({ body }) => ({ body }),
});

/** A listening node. `publicUrl` makes several nodes one service. */
export async function startAuthNode(
  database: Database,
  options: {
    publicUrl?: string;
    timing?: Partial<AuthTiming>;
    externalIssuer?: ExternalIssuer;
    clock?: Clock;
    trustedProxies?: readonly string[];
  } = {},
): Promise<AuthNode> {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  let url = '';
  const publicUrl = (): string => options.publicUrl ?? url;
  const { timing = {}, externalIssuer } = options;
  const clock = options.clock ?? (await createServerClock(database, () => undefined));
  const [vault, sourceOf] = [testVault, createSourceOf(options.trustedProxies)];
  const auth = createAuth({
    database,
    vault,
    sourceOf,
    clock,
    publicUrl,
    log: logger,
    timing,
    externalIssuer,
  });
  const { authenticate, recall } = auth;
  const extensions = [(app: FastifyInstance) => auth.extension(app)];
  const routes = [whoAmI, echo];
  const app = await createApp({ routes, logger, publicUrl, authenticate, recall, extensions });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  await auth.start();
  return {
    auth,
    app,
    url,
    logs: () => lines.join(''),
    async stop() {
      await app.close();
      await auth.stop();
    },
  };
}

export type TestClient = { customerId: string; customerName: string; clientId: string; clientSecret: string };

export const READ_AND_WRITE = ['transfer:read_transfer', 'transfer:write_internal_transfer'];

export async function newTestClient(
  database: Database,
  integration: Caller['integration'] = 'FIRST_PARTY',
): Promise<TestClient> {
  const customer = await createCustomer(database, { name: `Customer ${newId()}`, integration });
  const request = { customer: customer.id, name: 'test', scopes: READ_AND_WRITE };
  const made = await createClient(database, testVault, request);
  return { customerId: customer.id, customerName: customer.name, ...made };
}

export const insecure = { [oauth.allowInsecureRequests]: true };

/** Like a user's program: with an independent OAuth library. */
export async function discover(url: string): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(url);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  return oauth.processDiscoveryResponse(issuer, response);
}

export async function tokenFor(
  node: Pick<AuthNode, 'url'>,
  client: TestClient,
  scope?: string,
): Promise<string> {
  const response = await postToken(node.url, {
    grant_type: 'client_credentials',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    ...(scope === undefined ? {} : { scope }),
  });
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

export function postToken(
  url: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
  return fetch(`${url}/oauth2/token`, { method: 'POST', body, headers: { ...form, ...headers } });
}

export function basic(clientId: string, clientSecret: string): string {
  const encoded = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(':');
  return `Basic ${Buffer.from(encoded).toString('base64')}`;
}

export function refusal(auth: Auth, token: string): Promise<Problem> {
  return problemOf(auth.authenticate(`Bearer ${token}`));
}

/** Signed with the service's own key, so that a test of one check fails if that check is missing. */
export async function signedByUs(
  database: Database,
  claims: JWTPayload,
  header: { typ?: string; kid?: string } = {},
): Promise<string> {
  const key = (await trustedKeys(database, 0n)).find(({ retiredAtNs }) => retiredAtNs === null);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: key!.id, ...header })
    .sign(await importJWK(key!.privateJwk, 'EdDSA'));
}

/** Resolves as soon as the condition holds. The limit is far above what any machine needs. */
export async function eventually(holds: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > timeoutMs) throw new Error(`not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The same database, with a count of the queries outside transactions. */
export function counting(database: Database): { database: Database; queries(): number } {
  let count = 0;
  const query: Database['query'] = (text, parameters) => {
    count += 1;
    return database.query(text, parameters);
  };
  return { database: { ...database, query }, queries: () => count };
}
