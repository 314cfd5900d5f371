import { randomBytes } from 'node:crypto';
import { createClient } from '../../src/auth/administration.ts';
import type { Role } from '../../src/people/roles.ts';
import { enrol, invite, visit } from '../people/visitor.ts';
import type { Answer, TestService } from './service.ts';

/** One client of the operator. */
export type Eye = {
  readonly clientId: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
};

/** A client of that customer, owned by a person if one is named. */
export async function createEye(
  service: TestService,
  customer: string,
  { scopes, person }: { readonly scopes: readonly string[]; readonly person?: string },
): Promise<Eye> {
  const { database, vault, url } = service;
  const name = `eye ${randomBytes(4).toString('hex')}`;
  const owner = person === undefined ? {} : { ownerPersonId: person };
  const { clientId, clientSecret } = await createClient(database, vault, {
    customer,
    name,
    scopes,
    ...owner,
  });
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return {
    clientId,
    async call(method, path, body) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const received = { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
      service.description.check(method, path, received);
      return received;
    },
  };
}

const MAKER = ['operator:journal', 'operator:review', 'operator:admin', 'operator:read', 'operator:approve'];

/** A person of that customer, or of the operator, who has signed in. */
export async function createPersonEye(
  service: TestService,
  customerId: string | null,
  roles: readonly Role[],
): Promise<Eye> {
  const { id, token } = await invite(service, { customerId, roles });
  const visitor = visit(service.url);
  await enrol(visitor, token);
  return { clientId: id, call: (method, path, body) => visitor.call(method, path, body) };
}

/** Who takes part in requests that need approval. */
export type Eyes = {
  readonly maker: Eye;
  /** The person who owns the maker and the second client. */
  readonly person: Eye;
  readonly second: Eye;
  readonly approver: Eye;
  readonly other: Eye;
  /** Without the scope to approve. */
  readonly reader: Eye;
};

const READS = ['operator:read', 'operator:approve'];

/** Clients of the operator: two of one person, two approvers, and one without the scope. */
export async function createEyes(service: TestService): Promise<Eyes> {
  const { id: customer } = await service.createCustomer();
  const person = await createPersonEye(service, null, ['MAKER', 'APPROVER', 'ADMINISTRATOR']);
  const eye = (scopes: readonly string[], owner?: string) =>
    createEye(service, customer, { scopes, ...(owner && { person: owner }) });
  return {
    person,
    maker: await eye(MAKER, person.clientId),
    second: await eye(MAKER, person.clientId),
    approver: await eye(READS),
    other: await eye(READS),
    reader: await eye(['operator:read']),
  };
}

const OWN = [
  'policy:read_policy',
  'policy:write_policy',
  'policy:approve_withdrawal',
  'people:read_person',
  'people:write_person',
  'control:read_approval',
  'control:approve',
];

/** The same of one customer. */
export async function createOwnEyes(service: TestService, customer: string): Promise<Eyes> {
  const person = await createPersonEye(service, customer, ['MAKER', 'APPROVER', 'ADMINISTRATOR']);
  const eye = (scopes: readonly string[], owner?: string) =>
    createEye(service, customer, { scopes, ...(owner && { person: owner }) });
  return {
    person,
    maker: await eye(OWN, person.clientId),
    second: await eye(OWN, person.clientId),
    approver: await eye(OWN),
    other: await eye(OWN),
    reader: await eye(['control:read_approval']),
  };
}

export const APPROVALS = '/v2/operator/approvals';

export const vote = (
  eye: Eye,
  { id, digest }: { id: string; digest: string },
  verb = 'approve',
  approvals = APPROVALS,
) => eye.call('POST', `${approvals}/${id}/${verb}`, { digest, reason: 'Looked at it.' });

/** Entries of the audit log about a resource, or of an actor, in the order of time. */
export async function auditLog(eye: Eye, query: string): Promise<any[]> {
  const { body } = await eye.call('GET', `/v2/operator/audit-log?order=ASC&limit=1000&${query}`);
  return body.items;
}
