import type { Database } from '../database/database.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type Caller, OPERATOR_ID, type Route, route } from '../kernel/route.ts';
import { noSession } from './callers.ts';
import { ME } from './examples.ts';
import { MeShape } from './schema.ts';
import { findSessions } from './session-store.ts';
import { findPerson } from './store.ts';

const scopesOf = ({ scopes }: Caller): string[] => [...scopes].sort();

/** The data of the person themselves, whose session it is: of a customer or of the operator. */
async function presentCallingPerson(database: Database, caller: Caller) {
  const { id, sessionId, isOperator } = caller.person!;
  const own = isOperator ? database : database.of(caller.customerId);
  const person = await findPerson(own, isOperator ? null : caller.customerId, id);
  const session = (await findSessions(own, id)).find((one) => one.id === sessionId);
  // Revoked a moment ago.
  if (person === undefined || session === undefined) throw noSession();
  return {
    kind: 'PERSON' as const,
    id,
    ...(caller.customerId !== OPERATOR_ID && { customer_id: caller.customerId }),
    name: person.name,
    email: person.email,
    roles: [...person.roles],
    scopes: scopesOf(caller),
    session: {
      id: session.id,
      method: session.method,
      created_at: formatInstant(session.createdAtNs),
      authenticated_at: formatInstant(session.authenticatedAtNs),
      expires_at: formatInstant(session.expiresAtNs),
    },
  };
}

export function meRoute({ database }: { readonly database: Database }): Route {
  return route({
    method: 'GET',
    path: '/v2/me',
    operationId: 'getMe',
    tag: 'People',
    summary: 'Get the caller',
    description: 'Who calls, a client or a person, and what the caller may do.',
    scope: null,
    response: MeShape,
    problems: [],
    answer: ME,
    async handle({ caller }) {
      if (caller.person !== undefined) return { body: await presentCallingPerson(database, caller) };
      const { clientId: id, customerId } = caller;
      return { body: { kind: 'CLIENT' as const, id, customer_id: customerId, scopes: scopesOf(caller) } };
    },
  });
}
