import { generateKeyPairSync } from 'node:crypto';
import { createClient, disableClient } from '../../src/auth/administration.ts';
import { addSecret } from '../../src/auth/credentials.ts';
import { newId } from '../../src/kernel/id.ts';
import { invite } from '../people/visitor.ts';
import type { PrivilegedCase, PrivilegedWorld } from './privileged-cases.ts';

/** Every privileged action on clients and people: how it is requested, and how its effect is read. */

export const CLIENTS = '/v2/operator/clients';

export async function newClient({ service, customer }: Pick<PrivilegedWorld, 'service' | 'customer'>) {
  const { database, vault } = service;
  const draft = { customer: customer.id, name: 'for a test', scopes: ['funding:read_profile'] };
  const { clientId } = await createClient(database, vault, draft);
  const { id: secretId } = await addSecret(database, vault, clientId);
  return { id: clientId, secretId };
}

/** Everything that is stored of a client. */
export const clientState =
  ({ service: { database } }: Pick<PrivilegedWorld, 'service'>, id: string) =>
  (): Promise<unknown[]> =>
    database.query(
      `select scopes, allowed_addresses, owner_person_id, disabled_at_ns,
              (select array_agg(s.id order by s.id) from client_secrets s where s.client_id = c.id) as secrets,
              (select array_agg(k.kid order by k.kid) from client_keys k where k.client_id = c.id) as keys
       from clients c where c.id = $1`,
      [id],
    );

export function publicKey(): object {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  return { ...key.export({ format: 'jwk' }), kid: newId() };
}

const namedClients = ({ service: { database } }: PrivilegedWorld, name: string): Promise<unknown[]> =>
  database.query('select id, scopes from clients where name = $1', [name]);

/** Roles, links and passkeys of a person. */
const personState =
  ({ service: { database } }: PrivilegedWorld, id: string) =>
  (): Promise<unknown[]> =>
    database.query('select roles, updated_at_ns from people where id = $1', [id]);

const countPeople =
  ({ service: { database } }: PrivilegedWorld, customerId: string | null) =>
  (): Promise<unknown[]> =>
    database.query('select count(*) from people where customer_id is not distinct from $1', [customerId]);

/** What the request itself says: it made a link, or nothing yet. */
const linksOf =
  ({ service: { database } }: PrivilegedWorld, id: string) =>
  (): Promise<unknown[]> =>
    database.query(
      `select status from approvals where action like '%person.link' and status = 'EXECUTED' and result ->> 'id' = $1`,
      [id],
    );

const newPerson = () => ({ name: 'Nadia New', email: `${newId()}@example.com`, roles: ['MAKER'] });

/** People of the operator are managed by a person, those of a customer by a client or a person of it. */
const peopleCases = (prefix: 'person' | 'own_person'): PrivilegedCase[] => {
  const isOperator = prefix === 'person';
  const customerOf = (world: PrivilegedWorld) => (isOperator ? null : world.customer.id);
  const of = (world: PrivilegedWorld) =>
    invite(world.service, { customerId: customerOf(world), roles: ['VIEWER'] });
  const common = { byPerson: isOperator };
  return [
    {
      ...common,
      action: `${prefix}.create`,
      make: async (world) => ({
        path: '/v2/people',
        body: newPerson(),
        effect: countPeople(world, customerOf(world)),
      }),
    },
    {
      ...common,
      action: `${prefix}.change`,
      async make(world) {
        const { id } = await of(world);
        const body = { roles: ['APPROVER'] };
        return { method: 'PUT', path: `/v2/people/${id}`, body, effect: personState(world, id) };
      },
    },
    {
      ...common,
      action: `${prefix}.link`,
      async make(world) {
        const { id } = await of(world);
        return { path: `/v2/people/${id}/enrolment-links`, effect: linksOf(world, id) };
      },
    },
  ];
};

export const OWN_PEOPLE_CASES = peopleCases('own_person');

export const CLIENT_CASES: readonly PrivilegedCase[] = [
  {
    action: 'client.create',
    async make(world) {
      const name = `client ${newId()}`;
      const body = { customer_id: world.customer.id, name, scopes: ['funding:read_profile'] };
      return { path: CLIENTS, body, effect: () => namedClients(world, name) };
    },
  },
  {
    action: 'client.change',
    async make(world) {
      const { id } = await newClient(world);
      const body = { scopes: ['transfer:read_transfer'] };
      return { method: 'PUT', path: `${CLIENTS}/${id}`, body, effect: clientState(world, id) };
    },
  },
  {
    action: 'client.disable',
    async make(world) {
      const { id } = await newClient(world);
      return { path: `${CLIENTS}/${id}/disable`, effect: clientState(world, id) };
    },
  },
  {
    action: 'client.enable',
    async make(world) {
      const { id } = await newClient(world);
      await disableClient(world.service.database, id);
      return { path: `${CLIENTS}/${id}/enable`, effect: clientState(world, id) };
    },
  },
  {
    action: 'client.add_credentials',
    async make(world) {
      const { id } = await newClient(world);
      const body = { keys: [publicKey()] };
      return { path: `${CLIENTS}/${id}/credentials`, body, effect: clientState(world, id) };
    },
  },
  {
    action: 'client.remove_credential',
    async make(world) {
      const { id, secretId } = await newClient(world);
      const path = `${CLIENTS}/${id}/credentials/${secretId}`;
      return { method: 'DELETE', path, effect: clientState(world, id) };
    },
  },
  ...peopleCases('person'),
];
