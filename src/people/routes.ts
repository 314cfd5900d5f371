import { type Proposal, privileged } from '../approvals/action.ts';
import type { Database, Queryable } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { type AdministeredPerson, type PeopleActions, refuseOwn } from './actions.ts';
import { customerOfNew, newToken, removePerson, revokeSessions } from './administration.ts';
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

export type PeopleDependencies = {
  readonly database: Database;
  readonly place: () => Place;
  readonly actions: PeopleActions;
};

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

type Link = { readonly enrolment_url: string; readonly enrolment_expires_at: string };

/** Proposes it where four eyes are required, otherwise executes it and hands over the link. */
function administering({ database, actions }: PeopleDependencies) {
  return async <Verb extends keyof PeopleActions['own']>(
    caller: Caller,
    verb: Verb,
    asked: Parameters<PeopleActions['own'][Verb]['act']>[0] & Proposal,
  ) => {
    const whose = isOperator(caller) ? actions.operator : actions.own;
    const action = whose[verb] as unknown as AdministeredPerson<typeof asked>;
    const proposed = await action.propose(caller, asked);
    if (proposed !== undefined) return { proposed };
    const [act, handover] = [action.act(asked), action.handover?.(asked)];
    const actor = actorOf(caller);
    await database.transaction(async (tx) => {
      await act(tx, actor);
      await handover?.act(tx, actor);
    });
    const given = handover?.given() as (Link & { readonly person_id: string }) | undefined;
    return { given };
  };
}

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

function createRoute(dependencies: PeopleDependencies): Route {
  const { database } = dependencies;
  const administer = administering(dependencies);
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
    privileged: privileged('own_person.create'),
    async handle({ caller, body }) {
      const customerId = await customerOfNew(database, reachOf(caller), body.customer_id);
      const id = newId();
      const ofCustomer = customerId === null ? {} : { customer_id: customerId };
      const asked = { person_id: id, ...body, ...ofCustomer, salt: newToken() };
      const { proposed, given } = await administer(caller, 'create', asked);
      if (proposed !== undefined) return proposed;
      const { person_id: _, ...link } = given!;
      return { body: { ...presentPerson(await personOf(database, caller, id)), ...link } };
    },
  });
}

function changeRoutes(dependencies: PeopleDependencies): Route[] {
  const { database } = dependencies;
  const administer = administering(dependencies);
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
      privileged: privileged('own_person.change'),
      async handle({ caller, params, body }) {
        await personOf(database, caller, params.id);
        refuseOwn(actorOf(caller), params.id);
        const asked = { person_id: params.id, ...body, salt: newToken() };
        const { proposed } = await administer(caller, 'change', asked);
        return proposed ?? { body: presentPerson(await personOf(database, caller, params.id)) };
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
        refuseOwn(actorOf(caller), params.id);
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
      privileged: privileged('own_person.link'),
      async handle({ caller, params }) {
        const { id } = await personOf(database, caller, params.id);
        const asked = { person_id: id, removes_passkeys: false };
        const { proposed, given } = await administer(caller, 'link', asked);
        return proposed ?? { body: given! };
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
