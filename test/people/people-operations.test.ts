import { afterAll, describe, expect, it } from 'vitest';
import { createClient, ownClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Role } from '../../src/people/roles.ts';
import { findPerson, listPeople } from '../../src/people/store.ts';
import { expectInvalid, expectProblem, startTestService } from '../support/service.ts';
import { BEHIND_PROXY, enrol, invite, type TestPerson, type Visitor, visit } from './visitor.ts';

const service = await startTestService(BEHIND_PROXY);
afterAll(() => service.stop());
const [ours, theirs] = [await service.createCustomer(), await service.createCustomer()];

type SignedIn = TestPerson & { visitor: Visitor };
async function signedIn(customerId: string | null, ...roles: Role[]): Promise<SignedIn> {
  const person = await invite(service, { customerId, roles });
  const visitor = visit(service.url);
  await enrol(visitor, person.token);
  return { ...person, visitor };
}

let count = 0;
const newPerson = (...roles: Role[]) => {
  count += 1;
  return { name: 'Nadia New', email: `nadia-${count}@example.com`, roles };
};

const admin = await signedIn(ours.id, 'ADMINISTRATOR');
const operator = await signedIn(null, 'ADMINISTRATOR');
const colleague = await signedIn(ours.id, 'MAKER');
const stranger = await signedIn(theirs.id, 'MAKER');

describe('a client', () => {
  it('learns who it is, as the example shows, and with a session nobody learns less', async () => {
    const { body } = await ours.call('GET', '/v2/me');
    const { example } = service.description.operation('getMe').responses['200'].content['application/json'];
    expect(Object.keys(body).sort()).toEqual(Object.keys(example).sort());
    expect(body).toEqual({
      kind: 'CLIENT',
      id: expect.stringMatching(/^ferry_/),
      customer_id: ours.id,
      scopes: [...SCOPE_NAMES].sort(),
    });
    const anonymous = await service.anonymous.call('GET', '/v2/me');
    expectProblem(anonymous, 401, 'unauthenticated');
    const { body: person } = await colleague.visitor.call('GET', '/v2/me');
    expect(
      service.description.faults('GET', '/v2/me', await colleague.visitor.call('GET', '/v2/me')),
    ).toEqual([]);
    expect(person.session.id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('people use the same operations as clients', () => {
  it('as far as their roles go', async () => {
    const profile = await service.createProfile(ours, { USD: '10' });
    const other = await service.createProfile(ours);
    const transfer = { from_profile_id: profile, to_profile_id: other, asset: 'USD', amount: '1' };
    const [viewer, maker] = [await signedIn(ours.id, 'VIEWER'), await signedIn(ours.id, 'MAKER')];
    const move = ({ visitor }: SignedIn) => visitor.call('POST', '/v2/transfer/internal', transfer);
    expect((await viewer.visitor.call('GET', `/v2/profiles/${profile}/balances`)).status).toBe(200);
    const { required } = expectProblem(await move(viewer), 403, 'insufficient-scope');
    expect(required).toBe('transfer:write_internal_transfer');
    const moved = await move(maker);
    expect(moved.body).toMatchObject({ status: 'COMPLETED', customer_id: ours.id });
    expect(moved.headers.get('ratelimit-policy')).toContain('"client"');
    expectProblem(await move(stranger), 404, 'not-found');
    expectProblem(await maker.visitor.call('GET', '/v2/people'), 403, 'insufficient-scope');
  });

  it('with a role that was taken away, from the next request on', async () => {
    const person = await signedIn(ours.id, 'MAKER', 'ADMINISTRATOR');
    expect((await person.visitor.call('GET', '/v2/people')).status).toBe(200);
    await admin.visitor.call('PUT', `/v2/people/${person.id}`, { roles: ['VIEWER'] });
    expectProblem(await person.visitor.call('GET', '/v2/people'), 403, 'insufficient-scope');
    expect((await person.visitor.call('GET', '/v2/me')).body.roles).toEqual(['VIEWER']);
  });

  it('with streams, too, which end when the session does', async () => {
    const viewer = await signedIn(ours.id, 'VIEWER');
    const [[name, value]] = [...viewer.visitor.cookies] as [[string, string]];
    const response = await fetch(`${service.url}/v2/events/stream`, {
      headers: { cookie: `${name}=${value}` },
    });
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });
});

describe('an administrator of a customer', () => {
  it('adds people, who enrol with the link of the answer', async () => {
    const { status, body } = await admin.visitor.call('POST', '/v2/people', newPerson('APPROVER', 'MAKER'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      customer_id: ours.id,
      status: 'ACTIVE',
      passkeys: 0,
      roles: ['APPROVER', 'MAKER'],
    });
    const visitor = visit(service.url);
    await enrol(visitor, new URL(body.enrolment_url).hash.slice(1));
    expect((await visitor.call('GET', '/v2/me')).body.id).toBe(body.id);
    expect((await admin.visitor.call('GET', `/v2/people/${body.id}`)).body.passkeys).toBe(1);
  });

  it('cannot add the same email twice, but again after the person was disabled', async () => {
    const person = newPerson('VIEWER');
    const first = await admin.visitor.call('POST', '/v2/people', person);
    const upper = { ...person, email: person.email.toUpperCase() };
    expectProblem(await admin.visitor.call('POST', '/v2/people', upper), 409, 'already-exists');
    // Another customer may have it, and does not learn that we do.
    expect((await theirs.call('POST', '/v2/people', person)).status).toBe(200);
    await admin.visitor.call('POST', `/v2/people/${first.body.id}/disable`);
    expect((await admin.visitor.call('POST', '/v2/people', person)).status).toBe(200);
  });

  it('gets every fault of a request at once', async () => {
    const wrong = { name: ' ', email: 'x', roles: ['KING'] };
    expectInvalid(await ours.call('POST', '/v2/people', wrong), '/email', '/name', '/roles/0');
    expectInvalid(
      await ours.call('POST', '/v2/people', { ...newPerson('MAKER'), email: 'nobody' }),
      '/email',
    );
    expectInvalid(await ours.call('PUT', `/v2/people/${colleague.id}`, {}), '');
    expectInvalid(await ours.call('POST', '/v2/people', { ...newPerson('MAKER'), roles: [] }), '/roles');
  });

  it('reaches the people of the own customer only, and adds none elsewhere', async () => {
    const { body } = await admin.visitor.call('GET', '/v2/people?limit=1000');
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain(colleague.id);
    expect(ids).not.toContain(stranger.id);
    expect(ids).not.toContain(operator.id);
    for (const { id } of [stranger, operator]) {
      expectProblem(await admin.visitor.call('GET', `/v2/people/${id}`), 404, 'not-found');
      const change = await admin.visitor.call('PUT', `/v2/people/${id}`, { roles: ['VIEWER'] });
      expectProblem(change, 404, 'not-found');
      for (const path of ['disable', 'enrolment-links'])
        expectProblem(await admin.visitor.call('POST', `/v2/people/${id}/${path}`), 404, 'not-found');
      expectProblem(await admin.visitor.call('DELETE', `/v2/people/${id}/sessions`), 404, 'not-found');
    }
    const elsewhere = { ...newPerson('ADMINISTRATOR'), customer_id: theirs.id };
    expectProblem(await admin.visitor.call('POST', '/v2/people', elsewhere), 404, 'not-found');
    const named = await admin.visitor.call('GET', `/v2/people?customer_id=${theirs.id}`);
    expect(named.body.items.map(({ id }: { id: string }) => id)).not.toContain(stranger.id);
    expect((await stranger.visitor.call('GET', '/v2/me')).body.roles).toEqual(['MAKER']);
  });

  it('cannot change the own roles or disable themselves, not even with a client of their own', async () => {
    const scopes = ['people:write_person', 'people:read_person'];
    const made = await createClient(service.database, service.vault, {
      customer: ours.id,
      name: 'own',
      scopes,
    });
    await ownClient(service.database, made.clientId, { id: admin.id });
    const response = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${made.clientId}:${made.clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const withClient = visit(service.url);
    for (const headers of [undefined, { authorization: `Bearer ${token}` }]) {
      const visitor = headers === undefined ? admin.visitor : withClient;
      const change = await visitor.call('PUT', `/v2/people/${admin.id}`, { roles: ['MAKER'] }, headers);
      expectProblem(change, 403, 'forbidden');
      const disable = await visitor.call('POST', `/v2/people/${admin.id}/disable`, undefined, headers);
      expectProblem(disable, 403, 'forbidden');
    }
  });

  it('cannot change a disabled person or make a link for them', async () => {
    const { body } = await admin.visitor.call('POST', '/v2/people', newPerson('VIEWER'));
    await admin.visitor.call('POST', `/v2/people/${body.id}/disable`);
    const change = await admin.visitor.call('PUT', `/v2/people/${body.id}`, { roles: ['MAKER'] });
    expect(expectProblem(change, 409, 'invalid-state')).toEqual({ status: 'DISABLED' });
    const link = await admin.visitor.call('POST', `/v2/people/${body.id}/enrolment-links`);
    expectProblem(link, 409, 'invalid-state');
    const token = new URL(body.enrolment_url).hash.slice(1);
    const visitor = visit(service.url);
    expectProblem(await visitor.call('POST', '/signin/enrolment/options', { token }), 401, 'unauthenticated');
  });
});

describe('an administrator of the operator', () => {
  it('reaches everybody, and adds people for customers and for the operator', async () => {
    const { body } = await operator.visitor.call('GET', '/v2/people?limit=1000');
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([colleague.id, stranger.id, operator.id]));
    const named = await operator.visitor.call('GET', `/v2/people?customer_id=${theirs.id}`);
    expect(named.body.items.every((one: any) => one.customer_id === theirs.id)).toBe(true);
    const forThem = { ...newPerson('ADMINISTRATOR'), customer_id: theirs.id };
    expect((await operator.visitor.call('POST', '/v2/people', forThem)).body.customer_id).toBe(theirs.id);
    const staff = await operator.visitor.call('POST', '/v2/people', newPerson('VIEWER'));
    expect(staff.body).not.toHaveProperty('customer_id');
    const nowhere = { ...newPerson('VIEWER'), customer_id: newId() };
    expectProblem(await operator.visitor.call('POST', '/v2/people', nowhere), 404, 'not-found');
  });

  it('looks at the data of a customer that the request names, and moves nothing of it', async () => {
    const profile = await service.createProfile(ours, { USD: '7' });
    const path = `/v2/profiles/${profile}/balances`;
    expectProblem(await operator.visitor.call('GET', path), 403, 'insufficient-scope');
    const looking = { 'ferry-customer': ours.id };
    const seen = await operator.visitor.call('GET', path, undefined, looking);
    expect(seen.body.items).toEqual([expect.objectContaining({ asset: 'USD', available: '7' })]);
    const other = await operator.visitor.call('GET', path, undefined, { 'ferry-customer': theirs.id });
    expectProblem(other, 404, 'not-found');
    const nobody = await operator.visitor.call('GET', path, undefined, { 'ferry-customer': newId() });
    expectProblem(nobody, 404, 'not-found');
    const create = await operator.visitor.call('POST', '/v2/profiles', { nickname: 'Mine' }, looking);
    expectProblem(create, 403, 'insufficient-scope');
    // The header means nothing for others.
    const mine = await colleague.visitor.call('GET', '/v2/me', undefined, { 'ferry-customer': theirs.id });
    expect(mine.body.customer_id).toBe(ours.id);
  });

  it('uses the operations of operators', async () => {
    const staff = await signedIn(null, 'MAKER');
    expect((await staff.visitor.call('GET', '/v2/operator/journal-entries')).status).toBe(200);
    const booked = await staff.visitor.call('POST', '/v2/operator/journal-entries', {
      ...service.description.operation('bookJournalEntry').body!.example,
      profile_id: await service.createProfile(ours, { USD: '10' }),
    });
    expect(booked.body).toMatchObject({ actor: staff.id });
    expectProblem(
      await colleague.visitor.call('GET', '/v2/operator/journal-entries'),
      403,
      'insufficient-scope',
    );
  });
});

describe('the second wall', () => {
  it('refuses a person of another customer, even if the condition is forgotten', async () => {
    const own = service.database.of(ours.id);
    const forgetful = {
      ...own,
      query: (text: string) => own.query(text.replace(/ and p\.customer_id = \$2/, ''), [stranger.id]),
    };
    await expect(findPerson(forgetful as typeof own, ours.id, stranger.id)).rejects.toThrow(/found a row of/);
    const page = {
      limit: 10,
      descending: true,
      orderBy: 'created_at',
      after: undefined,
      ranges: [],
    } as const;
    await expect(listPeople(own, theirs.id, {}, page)).rejects.toThrow(/found a row of/);
  });

  it('and a copy of the database shows neither names nor addresses', async () => {
    const rows = await service.database.query<{ row: string }>(
      `select to_jsonb(p)::text as row from people p
       union all select to_jsonb(k)::text from passkeys k union all select to_jsonb(s)::text from sessions s`,
    );
    const dump = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(10);
    for (const secret of ['Nadia', 'example.com', 'Laptop', '"10.0.', 'Person '])
      expect(dump.includes(secret) ? secret : undefined).toBeUndefined();
  });
});
