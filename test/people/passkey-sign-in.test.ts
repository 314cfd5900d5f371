import { afterAll, describe, expect, it } from 'vitest';
import { expectProblem, startTestService } from '../support/service.ts';
import { createAuthenticator, type Misbehaviour } from './authenticator.ts';
import { ageSessions, BEHIND_PROXY, enrol, invite, signInWith, visit } from './visitor.ts';

const service = await startTestService(BEHIND_PROXY);
afterAll(() => service.stop());
const customer = await service.createCustomer();
const maker = { customerId: customer.id, roles: ['MAKER'] as const };
const NS_PER_HOUR = 3_600_000_000_000n;

const signedInAs = async (visitor: ReturnType<typeof visit>): Promise<string | undefined> =>
  (await visitor.call('GET', '/v2/me')).body.id;

describe('an enrolment link', () => {
  it('creates a passkey, with which the person is signed in and can sign in again', async () => {
    const person = await invite(service, maker);
    const visitor = visit(service.url);
    const passkey = await enrol(visitor, person.token);
    expect(await signedInAs(visitor)).toBe(person.id);

    const other = visit(service.url);
    expect((await signInWith(other, passkey)).status).toBe(200);
    const me = await other.call('GET', '/v2/me');
    expect(me.body).toMatchObject({
      kind: 'PERSON',
      id: person.id,
      customer_id: customer.id,
      email: person.email,
      roles: ['MAKER'],
      session: { method: 'PASSKEY' },
    });
    expect(me.body.scopes).toContain('transfer:write_fiat_withdrawal');
    expect(me.body.scopes).not.toContain('people:write_person');
  });

  it('works with an authenticator that signs with Ed25519 and does not count', async () => {
    const person = await invite(service, maker);
    const passkey = createAuthenticator({ curve: 'Ed25519', counts: false });
    await enrol(visit(service.url), person.token, passkey);
    for (const visitor of [visit(service.url), visit(service.url)]) {
      expect((await signInWith(visitor, passkey)).status).toBe(200);
      expect(await signedInAs(visitor)).toBe(person.id);
    }
  });

  it('can be used once', async () => {
    const person = await invite(service, maker);
    await enrol(visit(service.url), person.token);
    const second = visit(service.url);
    expectProblem(
      await second.call('POST', '/signin/enrolment/options', { token: person.token }),
      401,
      'unauthenticated',
    );
  });

  it('creates one passkey if two browsers finish with it at the same time', async () => {
    const person = await invite(service, maker);
    const attempts = [visit(service.url), visit(service.url), visit(service.url)].map(async (visitor) => {
      const { body } = await visitor.call('POST', '/signin/enrolment/options', { token: person.token });
      const response = createAuthenticator().create(body.options, visitor);
      return { visitor, finish: { token: person.token, name: 'Laptop', response } };
    });
    const started = await Promise.all(attempts);
    const answers = await Promise.all(
      started.map(({ visitor, finish }) => visitor.call('POST', '/signin/enrolment', finish)),
    );
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '401', '401']);
    const rows = await service.database.query('select id from passkeys where person_id = $1', [person.id]);
    expect(rows).toHaveLength(1);
  });

  it('does not work after it has expired, or was replaced by a newer one', async () => {
    const expired = await invite(service, maker);
    await service.database.query(
      'update enrolment_links set expires_at_ns = expires_at_ns - $2::bigint where person_id = $1',
      [expired.id, 72n * NS_PER_HOUR],
    );
    const replaced = await invite(service, maker);
    const answer = await customer.call('POST', `/v2/people/${replaced.id}/enrolment-links`);
    expect(answer.status).toBe(200);
    for (const { token } of [expired, replaced]) {
      const visitor = visit(service.url);
      const refused = await visitor.call('POST', '/signin/enrolment/options', { token });
      expectProblem(refused, 401, 'unauthenticated');
    }
    await enrol(visit(service.url), new URL(answer.body.enrolment_url).hash.slice(1));
  });

  it('is stored as a keyed digest only, as is the token of a session', async () => {
    const person = await invite(service, maker);
    const visitor = visit(service.url);
    const stored = async (table: string): Promise<string> =>
      JSON.stringify(
        await service.database.query(`select to_jsonb(t)::text as row from ${table} t where person_id = $1`, [
          person.id,
        ]),
      );
    expect(await stored('enrolment_links')).not.toContain(person.token);
    await enrol(visitor, person.token);
    const [token] = [...visitor.cookies.values()];
    expect(token).toHaveLength(43);
    expect(await stored('sessions')).toContain(person.id);
    expect(await stored('sessions')).not.toContain(token);
  });
});

describe('an answer of a passkey', () => {
  async function prepared() {
    const person = await invite(service, maker);
    const passkey = await enrol(visit(service.url), person.token);
    const visitor = visit(service.url);
    const { body: options } = await visitor.call('POST', '/signin/passkey/options');
    return { person, passkey, visitor, options };
  }

  const wrong: Record<string, Misbehaviour> = {
    'is for another domain': { rpId: 'evil.example' },
    'was made without verifying the person': { unverified: true },
    'is for a challenge that this service did not make': { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    'names another person': { userHandle: Buffer.alloc(16, 7).toString('base64url') },
    'is not of a sign-in': { type: 'webauthn.create' },
    'has a signature that is not valid': { spoilsSignature: true },
    'has a counter that has not grown: the passkey was copied': { counter: 1 },
  };

  it.each(Object.entries(wrong))('is refused if it %s', async (_what, how) => {
    const { passkey, visitor, options } = await prepared();
    const response = passkey.get(options, visitor, how);
    expectProblem(await visitor.call('POST', '/signin/passkey', { response }), 401, 'unauthenticated');
    expect([...visitor.cookies]).toEqual([]);
  });

  it('is refused if it was given on a page of another origin', async () => {
    const { passkey, visitor, options } = await prepared();
    for (const origin of ['https://evil.example', 'http://localhost:1', 'http://127.0.0.1']) {
      const response = passkey.get(options, { origin });
      expectProblem(await visitor.call('POST', '/signin/passkey', { response }), 401, 'unauthenticated');
    }
  });

  it('is accepted once: a copy of it is refused, even at the same time', async () => {
    const { passkey, visitor, options } = await prepared();
    const response = passkey.get(options, visitor);
    const visitors = [visitor, visit(service.url), visit(service.url), visit(service.url)];
    const answers = await Promise.all(
      visitors.map((one) => one.call('POST', '/signin/passkey', { response })),
    );
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '401', '401', '401']);
    expectProblem(
      await visit(service.url).call('POST', '/signin/passkey', { response }),
      401,
      'unauthenticated',
    );
  });

  it('of an authenticator that does not count is accepted once, too', async () => {
    const person = await invite(service, maker);
    const passkey = await enrol(visit(service.url), person.token, createAuthenticator({ counts: false }));
    const visitor = visit(service.url);
    const { body: options } = await visitor.call('POST', '/signin/passkey/options');
    const response = passkey.get(options, visitor);
    expect((await visitor.call('POST', '/signin/passkey', { response })).status).toBe(200);
    const copy = await visit(service.url).call('POST', '/signin/passkey', { response });
    expect(expectProblem(copy, 401, 'unauthenticated')).toBeDefined();
    expect(copy.body.detail).toMatch(/used before/);
  });

  it('is refused if nobody has the passkey, or it was removed', async () => {
    const visitor = visit(service.url);
    const { body: options } = await visitor.call('POST', '/signin/passkey/options');
    const response = createAuthenticator().get(options, visitor);
    expectProblem(await visitor.call('POST', '/signin/passkey', { response }), 401, 'unauthenticated');
    for (const malformed of [{}, { id: 'x' }, { id: 'x', response: {} }, { id: 7, response: 7 }]) {
      const answer = await visitor.call('POST', '/signin/passkey', { response: malformed });
      expect([400, 401]).toContain(answer.status);
    }
  });

  it('to an enrolment is refused for the link of another person, and for a sign-in', async () => {
    const [one, other] = [await invite(service, maker), await invite(service, maker)];
    const visitor = visit(service.url);
    const { body } = await visitor.call('POST', '/signin/enrolment/options', { token: one.token });
    const response = createAuthenticator().create(body.options, visitor);
    const finish = { token: other.token, name: 'Laptop', response };
    expectProblem(await visitor.call('POST', '/signin/enrolment', finish), 401, 'unauthenticated');
    const { passkey } = await prepared();
    const mixed = passkey.get({ ...body.options, rpId: 'localhost' }, visitor);
    expectProblem(await visitor.call('POST', '/signin/passkey', { response: mixed }), 401, 'unauthenticated');
  });
});

describe('a step-up', () => {
  it('makes the session recent again, with a passkey of the same person and for this session only', async () => {
    const admin = await invite(service, { customerId: customer.id, roles: ['ADMINISTRATOR'] });
    const [visitor, second] = [visit(service.url), visit(service.url)];
    const passkey = await enrol(visitor, admin.token);
    expect((await signInWith(second, passkey)).status).toBe(200);
    await ageSessions(service, admin.id, 11);
    const add = () =>
      visitor.call('POST', '/v2/people', {
        name: 'New',
        email: `new-${admin.id}@example.com`,
        roles: ['VIEWER'],
      });
    const refused = expectProblem(await add(), 403, 'step-up-required');
    expect(refused).toEqual({ max_age_seconds: 600, age_seconds: expect.any(Number) });
    expectProblem(await visitor.call('POST', '/signin/passkeys/options'), 403, 'step-up-required');

    const { body: options } = await visitor.call('POST', '/signin/step-up/options');
    const stranger = await enrol(visit(service.url), (await invite(service, maker)).token);
    const theirs = { response: stranger.get(options, visitor) };
    expectProblem(await visitor.call('POST', '/signin/step-up', theirs), 401, 'unauthenticated');
    const response = passkey.get(options, visitor);
    expectProblem(await second.call('POST', '/signin/step-up', { response }), 401, 'unauthenticated');
    expect((await visitor.call('POST', '/signin/step-up', { response })).status).toBe(200);
    expectProblem(await visitor.call('POST', '/signin/step-up', { response }), 401, 'unauthenticated');
    expect((await add()).status).toBe(200);
    expectProblem(await second.call('POST', '/signin/passkeys/options'), 403, 'step-up-required');
  });
});

describe('own passkeys', () => {
  it('are added, named and removed, but never the last one without a link', async () => {
    const person = await invite(service, maker);
    const visitor = visit(service.url);
    await enrol(visitor, person.token);
    const list = async () => (await visitor.call('GET', '/signin/passkeys')).body.items;
    const [first] = await list();
    expect(first).toMatchObject({ name: 'Laptop' });
    const last = await visitor.call('DELETE', `/signin/passkeys/${first.id}`);
    expectProblem(last, 409, 'invalid-state');

    const key = createAuthenticator();
    const { body: options } = await visitor.call('POST', '/signin/passkeys/options');
    expect(options.excludeCredentials).toHaveLength(1);
    const response = key.create(options, visitor);
    expect((await visitor.call('POST', '/signin/passkeys', { name: 'Key', response })).status).toBe(200);
    expect((await list()).map((one: { name: string }) => one.name)).toEqual(['Laptop', 'Key']);
    const renamed = await visitor.call('PUT', `/signin/passkeys/${first.id}`, { name: 'Old laptop' });
    expect(renamed.status).toBe(200);
    expect((await list())[0].name).toBe('Old laptop');
    expect((await visitor.call('DELETE', `/signin/passkeys/${first.id}`)).status).toBe(200);
    const again = visit(service.url);
    expect((await signInWith(again, key)).status).toBe(200);

    await customer.call('POST', `/v2/people/${person.id}/enrolment-links`);
    const [remaining] = await list();
    expect((await visitor.call('DELETE', `/signin/passkeys/${remaining.id}`)).status).toBe(200);
    expectProblem(await signInWith(visit(service.url), key), 401, 'unauthenticated');
  });
});
