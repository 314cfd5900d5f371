import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../kernel/actor.ts';
import { ID_PATTERN } from '../kernel/id.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { stepUpProblem } from '../kernel/step-up.ts';
import { LIMITS } from '../limits.ts';
import { revokeSessions } from './administration.ts';
import { noSession } from './callers.ts';
import { personActor, recordPerson } from './changes.ts';
import { clientTokenOf } from './client-session.ts';
import { bodyOf, CREDENTIAL, type Endpoints, NAME } from './endpoint.ts';
import { deletePasskey, hasLink, passkeysOf, renamePasskey } from './passkey-store.ts';
import { presentPasskey, presentSession } from './person.ts';
import { labelFault, lastPasskeyProblem } from './rules.ts';
import { endSessions, findSessions, type LiveSession, stepUp } from './session-store.ts';
import { refused } from './sign-in.ts';
import { findPerson, lockPerson } from './store.ts';

/** What people do with their own passkeys and sessions. */

const PARAMS = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', pattern: ID_PATTERN } },
  additionalProperties: false,
} as const;

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id;

function requireRecent({ authenticatedAgoNs }: LiveSession): void {
  const agoMs = Number(authenticatedAgoNs / NS_PER_MS);
  if (agoMs > LIMITS.stepUpMs) throw stepUpProblem(LIMITS.stepUpMs, agoMs);
}

type Own = Endpoints & {
  session(request: FastifyRequest): Promise<LiveSession>;
  actorOf(request: FastifyRequest, live: LiveSession): Actor;
};

function registerSessions(app: FastifyInstance, own: Own): void {
  const { database, vault, callers, place, session } = own;
  app.get('/signin/sessions', async (request, _reply) => {
    const { id, personId } = await session(request);
    const found = await findSessions(database, personId);
    return { items: found.map((one) => ({ ...presentSession(one), current: one.id === id })) };
  });
  app.delete('/signin/sessions/:id', { schema: { params: PARAMS } }, async (request, _reply) => {
    const live = await session(request);
    const ended = { session: idOf(request), actor: own.actorOf(request, live) };
    if ((await revokeSessions(database, live.personId, ended)) === 0)
      throw notFound('session', idOf(request));
    return {};
  });
  // Also without a session: the page then shows that nobody is signed in.
  app.post('/signin/out', async (request, reply) => {
    const live = await callers.sessionOf(request.raw);
    if (live !== undefined)
      await database.transaction(async (tx) => {
        await endSessions(tx, live.personId, live.id);
        await recordPerson(tx, own.actorOf(request, live), 'signed_out', live.personId);
      });
    const clientToken = clientTokenOf(vault, place(), request.headers.cookie);
    if (clientToken !== undefined) await own.revokeToken(clientToken);
    const { cookie, sessionCookie, clientCookie } = place();
    const ended = [sessionCookie, clientCookie].map((name) =>
      cookie(name, '', { sameSite: 'Strict', seconds: 0 }),
    );
    reply.header('set-cookie', ended);
    return {};
  });
}

function registerStepUp(app: FastifyInstance, { database, passkeys, session, count }: Own): void {
  app.post('/signin/step-up/options', async (request, _reply) => {
    count(request);
    const { id } = await session(request);
    return passkeys.assertionOptions({ purpose: 'step up', subject: id });
  });
  app.post(
    '/signin/step-up',
    { schema: { body: bodyOf({ response: CREDENTIAL }) } },
    async (request, _reply) => {
      count(request);
      const live = await session(request);
      const { response } = request.body as { response: object };
      const asserted = await passkeys.assert(response, { purpose: 'step up', subject: live.id });
      if (asserted.passkey.personId !== live.personId)
        throw refused('This passkey belongs to somebody else than the person who is signed in.');
      await database.transaction(async (tx) => {
        await asserted.commit(tx);
        if (!(await stepUp(tx, live, 0))) throw noSession();
      });
      return {};
    },
  );
}

function registerAdding(app: FastifyInstance, { database, passkeys, session, actorOf }: Own): void {
  app.post('/signin/passkeys/options', async (request, _reply) => {
    const live = await session(request);
    requireRecent(live);
    const person = (await findPerson(database, null, live.personId))!;
    return passkeys.registrationOptions({ purpose: 'add', subject: live.id }, person);
  });
  app.post(
    '/signin/passkeys',
    { schema: { body: bodyOf({ name: NAME, response: CREDENTIAL }) } },
    async (request, _reply) => {
      const live = await session(request);
      requireRecent(live);
      const { name, response } = request.body as { name: string; response: object };
      const registered = await passkeys.register(response, { purpose: 'add', subject: live.id });
      await database.transaction(async (tx) => {
        const person = await lockPerson(tx, live.personId);
        if (person === undefined || person.disabledAtNs !== null) throw noSession();
        await registered.commit(tx, person, name);
        await recordPerson(tx, actorOf(request, live), 'passkey_added', live.personId);
      });
      return {};
    },
  );
}

function registerOwnPasskeys(app: FastifyInstance, { database, session, actorOf }: Own): void {
  app.get('/signin/passkeys', async (request, _reply) => {
    const { personId } = await session(request);
    return { items: (await passkeysOf(database, personId)).map(presentPasskey) };
  });
  app.put(
    '/signin/passkeys/:id',
    { schema: { params: PARAMS, body: bodyOf({ name: NAME }) } },
    async (request, _reply) => {
      const live = await session(request);
      const { name } = request.body as { name: string };
      const fault = labelFault(name, LIMITS.passkeyNameLengthMax);
      if (fault !== undefined) throw invalidField('/name', fault);
      await database.transaction(async (tx) => {
        if (!(await renamePasskey(tx, live.personId, idOf(request), name)))
          throw notFound('passkey', idOf(request));
        await recordPerson(tx, actorOf(request, live), 'passkey_renamed', live.personId);
      });
      return {};
    },
  );
  app.delete('/signin/passkeys/:id', { schema: { params: PARAMS } }, async (request, _reply) => {
    const live = await session(request);
    requireRecent(live);
    await database.transaction(async (tx) => {
      await lockPerson(tx, live.personId);
      if (!(await deletePasskey(tx, live.personId, idOf(request)))) throw notFound('passkey', idOf(request));
      const isLast = (await passkeysOf(tx, live.personId)).length === 0;
      if (isLast && !(await hasLink(tx, live.personId))) throw lastPasskeyProblem();
      await recordPerson(tx, actorOf(request, live), 'passkey_removed', live.personId);
    });
    return {};
  });
}

export function registerAccount(app: FastifyInstance, endpoints: Endpoints): void {
  const own: Own = {
    ...endpoints,
    async session(request) {
      const session = await endpoints.callers.sessionOf(request.raw);
      if (session === undefined) throw noSession();
      return session;
    },
    actorOf: (request, { personId: id, customerId }) =>
      personActor({ id, customerId }, endpoints.sourceOfRequest(request).address, request.id),
  };
  registerSessions(app, own);
  registerStepUp(app, own);
  registerAdding(app, own);
  registerOwnPasskeys(app, own);
}
