import { expect } from 'vitest';
import { addPerson, type NewPerson } from '../../src/people/administration.ts';
import { NEW_PERSON, SESSION } from '../../src/people/examples.ts';
import { signIn } from '../../src/people/sign-in.ts';
import type { Answer, TestCustomer, TestService } from '../support/service.ts';
import { type Authenticator, createAuthenticator } from './authenticator.ts';

/** A browser on a page of the service: it keeps cookies, and says where its requests come from. */
export type Visitor = {
  readonly origin: string;
  readonly cookies: Map<string, string>;
  /** The last Set-Cookie headers. */
  readonly setCookies: () => readonly string[];
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

/** For the service of these tests: each visitor has an address of its own, because sign-ins are limited by address. */
export const BEHIND_PROXY = { FERRY_TRUSTED_PROXIES: '127.0.0.0/8' };

let visitors = 0;

export function visit(url: string, origin = new URL(url).origin): Visitor {
  visitors += 1;
  const address = `10.${visitors >> 16}.${(visitors >> 8) & 0xff}.${visitors & 0xff}`;
  const cookies = new Map<string, string>();
  let setCookies: readonly string[] = [];
  return {
    origin,
    cookies,
    setCookies: () => setCookies,
    async call(method, path, body, headers = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          'x-forwarded-for': address,
          ...(cookie !== '' && { cookie }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method !== 'GET' && { origin, 'sec-fetch-site': 'same-origin' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      setCookies = response.headers.getSetCookie();
      for (const one of setCookies) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(one)!;
        if (/Max-Age=0/.test(one)) cookies.delete(name!);
        else cookies.set(name!, value!);
      }
      const read = await response.text();
      const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
      return {
        status: response.status,
        headers: response.headers,
        body: read === '' ? undefined : isJson ? JSON.parse(read) : read,
      };
    },
  };
}

let people = 0;

export type TestPerson = { readonly id: string; readonly email: string; readonly token: string };

/** A new person, and the token of the enrolment link. */
export async function invite(
  { database, url }: Pick<TestService, 'database' | 'url'>,
  person: Pick<NewPerson, 'customerId' | 'roles'> & Partial<NewPerson>,
): Promise<TestPerson> {
  people += 1;
  const email = person.email ?? `person-${people}@example.com`;
  const named = { name: `Person ${people}`, ...person, email };
  const { person: added, link } = await addPerson(database, named, url);
  return { id: added.id, email, token: new URL(link.url).hash.slice(1) };
}

/** Uses the link, and returns the authenticator that has the passkey. The visitor is signed in. */
export async function enrol(
  visitor: Visitor,
  token: string,
  authenticator: Authenticator = createAuthenticator(),
): Promise<Authenticator> {
  const { status, body } = await visitor.call('POST', '/signin/enrolment/options', { token });
  expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
  const response = authenticator.create(body.options, visitor);
  const answer = await visitor.call('POST', '/signin/enrolment', { token, name: 'Laptop', response });
  expect({ status: answer.status, detail: answer.body.detail }).toEqual({ status: 200, detail: undefined });
  return authenticator;
}

/** The answer of the sign-in. */
export async function signInWith(visitor: Visitor, authenticator: Authenticator): Promise<Answer> {
  const { body: options } = await visitor.call('POST', '/signin/passkey/options');
  const response = authenticator.get(options, visitor);
  return visitor.call('POST', '/signin/passkey', { response });
}

/** As if the person had signed in, or stepped up, so many minutes ago. */
export async function ageSessions(
  { database }: Pick<TestService, 'database'>,
  personId: string,
  minutes: number,
): Promise<void> {
  const shift = BigInt(minutes) * 60_000_000_000n;
  await database.query(
    `update sessions set created_at_ns = created_at_ns - $2::bigint, authenticated_at_ns = authenticated_at_ns - $2::bigint,
       used_at_ns = used_at_ns - $2::bigint, expires_at_ns = expires_at_ns - $2::bigint where person_id = $1`,
    [personId, shift],
  );
}

/** The id of the person, who has signed in once. */
export async function withSession(
  { database }: Pick<TestService, 'database'>,
  personId: string,
): Promise<string> {
  const source = { address: '192.0.2.7', userAgent: SESSION.user_agent };
  await signIn(database, { personId, method: 'PASSKEY', source });
  return personId;
}

/** The id of another person of the customer, who is like the one of the documentation. */
export async function newPersonOf({ call }: TestCustomer): Promise<string> {
  const person = { ...NEW_PERSON, email: `${crypto.randomUUID()}@example.com` };
  const { status, body } = await call('POST', '/v2/people', person);
  expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
  return body.id;
}
