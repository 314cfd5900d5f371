import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { registerAccount } from './account-endpoints.ts';
import { personActor, recordPerson } from './changes.ts';
import { registerClientSignIn } from './client-session.ts';
import { DEMO_NAMES, DEMO_PEOPLE, type DemoName, demoPerson } from './demo.ts';
import {
  bodyOf,
  CREDENTIAL,
  createEndpoints,
  type Endpoints,
  NAME,
  type SignInParts,
  TOKEN,
} from './endpoint.ts';
import { registerOpenId } from './openid-endpoints.ts';
import { registerPages } from './pages.ts';
import { personOfLink, useLink } from './passkey-store.ts';
import { crossSiteFault } from './place.ts';
import { refused, startSession } from './sign-in.ts';
import { findPerson, lockPerson } from './store.ts';

/** The person of a link, who is not disabled. */
async function personByLink(database: Database, token: string) {
  const personId = await personOfLink(database, token);
  const person = personId === undefined ? undefined : await findPerson(database, null, personId);
  if (person === undefined || person.disabledAtNs !== null)
    throw refused('This link has expired, was used, or was replaced by a newer one. Ask for a new one.');
  return person;
}

function registerPasskeySignIn(app: FastifyInstance, endpoints: Endpoints): void {
  const { database, passkeys, count, callers, sourceOfRequest, enter } = endpoints;
  const signingIn = { purpose: 'sign in', subject: '' } as const;
  app.post('/signin/passkey/options', async (request, _reply) => {
    count(request);
    return passkeys.assertionOptions(signingIn);
  });
  app.post(
    '/signin/passkey',
    { schema: { body: bodyOf({ response: CREDENTIAL }) } },
    async (request, reply) => {
      count(request);
      const { response } = request.body as { response: object };
      const asserted = await passkeys.assert(response, signingIn);
      const token = await database.transaction(async (tx) => {
        await asserted.commit(tx);
        return startSession(tx, {
          personId: asserted.passkey.personId,
          method: 'PASSKEY',
          source: sourceOfRequest(request),
          previousToken: callers.tokenOf(request.raw),
        });
      });
      enter(reply, token);
      return {};
    },
  );
}

function registerEnrolment(app: FastifyInstance, endpoints: Endpoints): void {
  const { database, passkeys, count, callers, sourceOfRequest, enter } = endpoints;
  app.post(
    '/signin/enrolment/options',
    { schema: { body: bodyOf({ token: TOKEN }) } },
    async (request, _reply) => {
      count(request);
      const person = await personByLink(database, (request.body as { token: string }).token);
      const options = await passkeys.registrationOptions({ purpose: 'enrol', subject: person.id }, person);
      return { name: person.name, email: person.email, options };
    },
  );
  app.post(
    '/signin/enrolment',
    { schema: { body: bodyOf({ token: TOKEN, name: NAME, response: CREDENTIAL }) } },
    async (request, reply) => {
      count(request);
      const { token, name, response } = request.body as { token: string; name: string; response: object };
      const { id: personId } = await personByLink(database, token);
      const registered = await passkeys.register(response, { purpose: 'enrol', subject: personId });
      const session = await database.transaction(async (tx) => {
        const person = (await lockPerson(tx, personId))!;
        if (!(await useLink(tx, token))) throw refused('This link was used. Ask for a new one.');
        await registered.commit(tx, person, name);
        const actor = personActor(person, sourceOfRequest(request).address, request.id);
        await recordPerson(tx, actor, 'passkey_added', personId);
        const previousToken = callers.tokenOf(request.raw);
        return startSession(tx, {
          personId,
          method: 'PASSKEY',
          source: sourceOfRequest(request),
          previousToken,
        });
      });
      enter(reply, session);
      return {};
    },
  );
}

function registerDemo(app: FastifyInstance, { database, count, signIn: enterAs }: Endpoints): void {
  app.post(
    '/signin/demo',
    { schema: { body: bodyOf({ as: { enum: DEMO_NAMES } }) } },
    async (request, reply) => {
      count(request);
      const personId = await demoPerson(database, (request.body as { as: DemoName }).as);
      await enterAs(request, reply, { personId, method: 'DEMO' });
      return {};
    },
  );
}

/** Which ways there are, for the page. */
function registerWays(app: FastifyInstance, { place, openId, hasDemo }: Endpoints): void {
  app.get('/signin/ways', async () => ({
    passkeys: place().passkeyDomain !== undefined,
    // A page at another address of the same machine: there, passkeys do not work.
    url: `${place().url}/signin`,
    ...(openId && { provider: openId.name }),
    demo: hasDemo
      ? DEMO_NAMES.map((as) => ({
          as,
          name: DEMO_PEOPLE[as].name,
          roles: DEMO_PEOPLE[as].roles,
          operator: DEMO_PEOPLE[as].isOperator,
        }))
      : [],
  }));
}

/** Registers everything under /signin, in a scope of its own: bodies are small, and nobody caches an answer. */
export function signInExtension(parts: SignInParts): (app: FastifyInstance) => Promise<void> {
  const endpoints = createEndpoints(parts);
  return async (app) => {
    await app.register(async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const fault = crossSiteFault(request.raw, parts.place());
        if (fault !== undefined) throw new Problem('forbidden', fault);
      });
      scope.addHook('onRoute', (route) => {
        route.bodyLimit = LIMITS.signInBodyBytesMax;
      });
      registerPages(scope);
      registerWays(scope, endpoints);
      registerPasskeySignIn(scope, endpoints);
      registerEnrolment(scope, endpoints);
      registerClientSignIn(scope, app, endpoints);
      registerAccount(scope, endpoints);
      if (endpoints.openId !== undefined) registerOpenId(scope, endpoints, endpoints.openId);
      if (endpoints.hasDemo) registerDemo(scope, endpoints);
    });
  };
}
