import { randomBytes } from 'node:crypto';
import { createClient } from '../../src/auth/administration.ts';
import { invite } from '../people/visitor.ts';
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

const MAKER = ['operator:journal', 'operator:review', 'operator:admin', 'operator:read'];

/** A maker, a second client of the same person, two approvers, and a client without the scope. */
export async function createEyes(service: TestService) {
  const { id: customer } = await service.createCustomer();
  const { id: person } = await invite(service, { customerId: customer, roles: ['MAKER'] });
  const eye = (scopes: readonly string[], owner?: string) =>
    createEye(service, customer, { scopes, ...(owner && { person: owner }) });
  return {
    customer,
    person,
    maker: await eye([...MAKER, 'operator:approve'], person),
    second: await eye([...MAKER, 'operator:approve'], person),
    approver: await eye(['operator:read', 'operator:approve']),
    other: await eye(['operator:read', 'operator:approve']),
    reader: await eye(['operator:read']),
  };
}

export type Eyes = Awaited<ReturnType<typeof createEyes>>;

export const APPROVALS = '/v2/operator/approvals';

export const vote = (eye: Eye, { id, digest }: { id: string; digest: string }, verb = 'approve') =>
  eye.call('POST', `${APPROVALS}/${id}/${verb}`, { digest, reason: 'Looked at it.' });

/** Entries of the audit log about a resource, or of an actor, in the order of time. */
export async function auditLog(eye: Eye, query: string): Promise<any[]> {
  const { body } = await eye.call('GET', `/v2/operator/audit-log?order=ASC&limit=1000&${query}`);
  return body.items;
}
