import type { Database, Queryable } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import {
  addPerson,
  changePerson,
  customerOfNew,
  type EnrolmentLink,
  newLink,
  removePerson,
  revokeSessions,
} from './administration.ts';
import {
  CHANGED_PERSON,
  CREATED_PERSON,
  DISABLED_PERSON,
  ENDED_SESSIONS,
  ENROLMENT_LINK,
  NEW_PERSON,
  PERSON,
  SESSION,
} from './examples.ts';
import { meRoute } from './me-route.ts';
import { type Person, presentPerson, presentSession } from './person.ts';
import type { Place } from './place.ts';
import { ownPersonProblem } from './rules.ts';
import {
  ChangePersonRequest,
  CreatedPersonShape,
  CreatePersonRequest,
  EndedSessions,
  EnrolmentLinkShape,
  PeopleQuery,
  PersonList,
  PersonShape,
  SessionList,
} from './schema.ts';
import { findSessions } from './session-store.ts';
import { findPerson, listPeople } from './store.ts';

export type PeopleDependencies = { readonly database: Database; readonly place: () => Place };

const TAG = 'People';

/** People of the operator reach everybody, all others their own customer. */
const isOperator = ({ person }: Caller): boolean => person?.isOperator === true;
const reachOf = (caller: Caller): string | null => (isOperator(caller) ? null : caller.customerId);

function viewOf(database: Database, caller: Caller): Queryable {
  return isOperator(caller) ? database : database.of(caller.customerId);
}

async function personOf(database: Database, caller: Caller, id: string): Promise<Person> {
  const person = await findPerson(viewOf(database, caller), reachOf(caller), id);
  if (person === undefined) throw notFound('person', id);
  return person;
}

/** Neither with a session nor with a client of one's own. */
function refuseOwn({ person, ownerPersonId }: Caller, id: string): void {
  if (person?.id === id || ownerPersonId === id) throw ownPersonProblem();
}

const presentLink = ({ url, expiresAtNs }: EnrolmentLink) => ({
  enrolment_url: url,
  enrolment_expires_at: formatInstant(expiresAtNs),
});

export function peopleRoutes(dependencies: PeopleDependencies): Route[] {
  return [
    meRoute(dependencies),
    ...readRoutes(dependencies),
    createRoute(dependencies),
    ...changeRoutes(dependencies),
    ...sessionRoutes(dependencies),
  ];
}

function readRoutes({ database }: PeopleDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/people',
      operationId: 'listPeople',
      tag: TAG,
      summary: 'List people',
      description: 'The people of your customer. People of the operator see everybody.',
      scope: 'people:read_person',
      query: PeopleQuery,
      response: PersonList,
      problems: [],
      answer: { items: [PERSON] },
      async handle({ caller, query }) {
        const page = readPage(query, 'people');
        const rows = await listPeople(viewOf(database, caller), reachOf(caller), query, page);
        return { body: await pageOf(rows, page, presentPerson) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/people/{id}',
      operationId: 'getPerson',
      tag: TAG,
      summary: 'Get a person',
      scope: 'people:read_person',
      params: IdParams,
      response: PersonShape,
      problems: ['not-found'],
      answer: PERSON,
      async handle({ caller, params }) {
        return { body: presentPerson(await personOf(database, caller, params.id)) };
      },
    }),
  ];
}

function createRoute({ database, place }: PeopleDependencies): Route {
  return route({
    method: 'POST',
    path: '/v2/people',
    operationId: 'createPerson',
    tag: TAG,
    summary: 'Add a person',
    description: `Send \`enrolment_url\` to the person, who creates a passkey with it, within ${LIMITS.enrolmentLinkMs / 3_600_000} hours and once. There are no passwords.`,
    scope: 'people:write_person',
    stepUpMs: LIMITS.stepUpMs,
    body: CreatePersonRequest,
    example: NEW_PERSON,
    response: CreatedPersonShape,
    problems: ['forbidden', 'not-found', 'already-exists'],
    answer: CREATED_PERSON,
    async handle({ caller, body }) {
      const customerId = await customerOfNew(database, reachOf(caller), body.customer_id);
      const { person, link } = await addPerson(
        database,
        { ...body, customerId },
        place().url,
        actorOf(caller),
      );
      return { body: { ...presentPerson(person), ...presentLink(link) } };
    },
  });
}

function changeRoutes({ database, place }: PeopleDependencies): Route[] {
  return [
    route({
      method: 'PUT',
      path: '/v2/people/{id}',
      operationId: 'changePerson',
      tag: TAG,
      summary: 'Change the roles or the name of a person',
      description: 'The new roles count from the next request of the person on. Nobody can change their own.',
      scope: 'people:write_person',
      stepUpMs: LIMITS.stepUpMs,
      params: IdParams,
      body: ChangePersonRequest,
      example: { roles: ['VIEWER'] },
      response: PersonShape,
      problems: ['forbidden', 'not-found', 'invalid-state'],
      answer: CHANGED_PERSON,
      async handle({ caller, params, body }) {
        await personOf(database, caller, params.id);
        refuseOwn(caller, params.id);
        return { body: presentPerson(await changePerson(database, params.id, body, actorOf(caller))) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/people/{id}/disable',
      operationId: 'disablePerson',
      tag: TAG,
      summary: 'Disable a person',
      description:
        'For good, and at once: all sessions end, and passkeys and the enrolment link are removed.',
      scope: 'people:write_person',
      params: IdParams,
      response: PersonShape,
      problems: ['forbidden', 'not-found'],
      answer: DISABLED_PERSON,
      async handle({ caller, params }) {
        await personOf(database, caller, params.id);
        refuseOwn(caller, params.id);
        return { body: presentPerson(await removePerson(database, params.id, actorOf(caller))) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/people/{id}/enrolment-links',
      operationId: 'createEnrolmentLink',
      tag: TAG,
      summary: 'Create a new enrolment link',
      description:
        'For a person who has not used the first one, or has no device any more. Replaces the link before; passkeys stay.',
      scope: 'people:write_person',
      stepUpMs: LIMITS.stepUpMs,
      params: IdParams,
      response: EnrolmentLinkShape,
      problems: ['not-found', 'invalid-state'],
      answer: ENROLMENT_LINK,
      async handle({ caller, params }) {
        const { id } = await personOf(database, caller, params.id);
        return {
          body: {
            person_id: id,
            ...presentLink(await newLink(database, id, place().url, { actor: actorOf(caller) })),
          },
        };
      },
    }),
  ];
}

function sessionRoutes({ database }: PeopleDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/people/{id}/sessions',
      operationId: 'listPersonSessions',
      tag: TAG,
      summary: 'List the sessions of a person',
      description: `Those that have not ended; there are at most ${LIMITS.sessionsMax}.`,
      scope: 'people:read_person',
      params: IdParams,
      response: SessionList,
      problems: ['not-found'],
      answer: { items: [SESSION] },
      async handle({ caller, params }) {
        await personOf(database, caller, params.id);
        const sessions = await findSessions(viewOf(database, caller), params.id);
        return { body: { items: sessions.map(presentSession) } };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v2/people/{id}/sessions',
      operationId: 'endPersonSessions',
      tag: TAG,
      summary: 'End all sessions of a person',
      description: 'At once, on every node. The person can sign in again.',
      scope: 'people:write_person',
      params: IdParams,
      response: EndedSessions,
      problems: ['not-found'],
      answer: ENDED_SESSIONS,
      async handle({ caller, params }) {
        await personOf(database, caller, params.id);
        return {
          body: {
            person_id: params.id,
            ended: await revokeSessions(database, params.id, { actor: actorOf(caller) }),
          },
        };
      },
    }),
  ];
}
