import { pino } from 'pino';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { PEOPLE_LIMITS } from '../../src/limits-people.ts';
import { assemble } from '../../src/main.ts';
import { expectProblem, startTestService } from '../support/service.ts';
import { connectUnlocked } from '../support/vault.ts';
import type { Authenticator } from './authenticator.ts';
import {
  ageSessions,
  BEHIND_PROXY,
  enrol,
  invite,
  signInWith,
  type TestPerson,
  type Visitor,
  visit,
} from './visitor.ts';

const service = await startTestService(BEHIND_PROXY);
afterAll(() => service.stop());
const customer = await service.createCustomer();

type SignedIn = { person: TestPerson; visitor: Visitor; passkey: Authenticator };

async function signedIn(url = service.url): Promise<SignedIn> {
  const person = await invite(service, { customerId: customer.id, roles: ['MAKER'] });
  const visitor = visit(url);
  return { person, visitor, passkey: await enrol(visitor, person.token) };
}

const me = (visitor: Visitor) => visitor.call('GET', '/v2/me');
const profile = { nickname: 'Cookie jar' };

describe('the cookie of a session', () => {
  it('is not readable by scripts, and is sent only by pages of the service', async () => {
    const { visitor, passkey } = await signedIn();
    await signInWith(visitor, passkey);
    expect(visitor.setCookies()).toEqual([
      expect.stringMatching(/^ferry_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  it('of a public URL with https belongs to the host, or to the path of the URL', async () => {
    const paths = {
      'https://pay.example': ['__Host-', '/'],
      'https://pay.example/ferry': ['__Secure-', '/ferry'],
    };
    for (const [publicUrl, [prefix, path]] of Object.entries(paths)) {
      const other = await startTestService({ ...BEHIND_PROXY, FERRY_PUBLIC_URL: publicUrl });
      const { id } = await other.createCustomer();
      const person = await invite(other, { customerId: id, roles: ['VIEWER'] });
      const visitor = visit(other.url, 'https://pay.example');
      await enrol(visitor, person.token);
      const [cookie] = visitor.setCookies();
      expect(cookie).toMatch(
        new RegExp(`^${prefix}ferry_session=[\\w-]{43}; Path=${path}; HttpOnly; SameSite=Strict; Secure$`),
      );
      expect((await me(visitor)).body.id).toBe(person.id);
      const { components } = other.description.document;
      expect(components.securitySchemes.session).toMatchObject({
        in: 'cookie',
        name: `${prefix}ferry_session`,
      });
      await other.stop();
    }
  });

  it('counts after an access token, and is refused if there are two', async () => {
    const { visitor, person } = await signedIn();
    const { authorization } = customer;
    const answer = await visitor.call('GET', '/v2/me', undefined, { authorization });
    expect(answer.body).toMatchObject({ kind: 'CLIENT', customer_id: customer.id });
    const [[name, value]] = [...visitor.cookies] as [[string, string]];
    const cookie = `${name}=${value}; ${name}=${'A'.repeat(43)}`;
    const two = await fetch(`${service.url}/v2/me`, { headers: { cookie } });
    expect(two.status).toBe(401);
    const one = await fetch(`${service.url}/v2/me`, { headers: { cookie: `theme=dark; ${name}=${value}` } });
    expect(((await one.json()) as { id: string }).id).toBe(person.id);
  });

  it('is never one that the browser brought along: a sign-in makes a new one and ends the old one', async () => {
    const { visitor, passkey, person } = await signedIn();
    const [[name, before]] = [...visitor.cookies] as [[string, string]];
    await signInWith(visitor, passkey);
    expect(visitor.cookies.get(name)).not.toBe(before);
    const stale = visit(service.url);
    stale.cookies.set(name, before);
    expectProblem(await me(stale), 401, 'unauthenticated');
    // An attacker has planted a cookie in the browser.
    const planted = visit(service.url);
    planted.cookies.set(name, 'A'.repeat(43));
    await signInWith(planted, passkey);
    expect(planted.cookies.get(name)).not.toBe('A'.repeat(43));
    expect((await me(planted)).body.id).toBe(person.id);
  });
});

describe('a session', () => {
  it('ends when it was not used for half an hour, and after twelve hours in any case', async () => {
    const idle = await signedIn();
    await ageSessions(service, idle.person.id, 31);
    expectProblem(await me(idle.visitor), 401, 'unauthenticated');

    const busy = await signedIn();
    for (let hours = 0; hours < 12; hours += 1) {
      expect((await me(busy.visitor)).status).toBe(200);
      await ageSessions(service, busy.person.id, 60);
      await service.database.query(
        'update sessions set used_at_ns = used_at_ns + $2::bigint where person_id = $1',
        [busy.person.id, 59n * 60_000_000_000n],
      );
    }
    expectProblem(await me(busy.visitor), 401, 'unauthenticated');
  });

  it('stays alive while it is used', async () => {
    const { person, visitor } = await signedIn();
    for (let times = 0; times < 3; times += 1) {
      await ageSessions(service, person.id, 29);
      expect((await me(visitor)).status).toBe(200);
    }
  });

  it('ends with a sign-out, and the cookie goes', async () => {
    const { visitor } = await signedIn();
    const [[name, value]] = [...visitor.cookies] as [[string, string]];
    expect((await visitor.call('POST', '/signin/out')).status).toBe(200);
    expect([...visitor.cookies]).toEqual([]);
    visitor.cookies.set(name, value);
    expectProblem(await me(visitor), 401, 'unauthenticated');
    expectProblem(await visitor.call('GET', '/signin/sessions'), 401, 'unauthenticated');
  });

  it('can be ended by its person from another browser, but not by somebody else', async () => {
    const { visitor, passkey } = await signedIn();
    const other = visit(service.url);
    await signInWith(other, passkey);
    const { items } = (await other.call('GET', '/signin/sessions')).body;
    expect(items).toHaveLength(2);
    const theirs = items.find((one: { current: boolean }) => !one.current);
    expect(theirs).toMatchObject({ method: 'PASSKEY', address: expect.stringMatching(/^10\./) });
    const stranger = await signedIn();
    const path = `/signin/sessions/${theirs.id}`;
    expectProblem(await stranger.visitor.call('DELETE', path), 404, 'not-found');
    expect((await me(visitor)).status).toBe(200);
    expect((await other.call('DELETE', path)).status).toBe(200);
    expectProblem(await me(visitor), 401, 'unauthenticated');
    expect((await me(other)).status).toBe(200);
  });

  it('is one of ten at most: a new sign-in ends the oldest', async () => {
    const { person, visitor, passkey } = await signedIn();
    const others: Visitor[] = [];
    for (let times = 0; times < PEOPLE_LIMITS.sessionsMax; times += 1) {
      others.push(visit(service.url));
      expect((await signInWith(others.at(-1)!, passkey)).status).toBe(200);
    }
    expectProblem(await me(visitor), 401, 'unauthenticated');
    for (const other of others) expect((await me(other)).body.id).toBe(person.id);
  });

  it('ends at once on every node when an administrator ends it or disables the person', async () => {
    const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', ...BEHIND_PROXY });
    const [row] = await service.database.query<{ name: string }>('select current_database() as name');
    const address = { ...inject('postgres'), database: row!.name, user: inject('servingRole') };
    const database = connectUnlocked(address);
    const second = await assemble({ config, database, logger: pino({ level: 'silent' }) });
    await second.start();
    try {
      const { person, visitor, passkey } = await signedIn();
      const there = visit(second.url());
      // The challenge of one node is answered at the other.
      const { body: options } = await visitor.call('POST', '/signin/passkey/options');
      const response = passkey.get(options, there);
      expect((await there.call('POST', '/signin/passkey', { response })).status).toBe(200);
      expect((await visit(service.url).call('POST', '/signin/passkey', { response })).status).toBe(401);
      for (const [key, value] of visitor.cookies) there.cookies.set(key, value);
      expect((await me(there)).body.id).toBe(person.id);
      const ended = await customer.call('DELETE', `/v2/people/${person.id}/sessions`);
      expect(ended.body).toEqual({ person_id: person.id, ended: 2 });
      expectProblem(await me(there), 401, 'unauthenticated');
      expectProblem(await me(visitor), 401, 'unauthenticated');

      expect((await signInWith(there, passkey)).status).toBe(200);
      expect((await me(there)).status).toBe(200);
      expect((await customer.call('POST', `/v2/people/${person.id}/disable`)).body.status).toBe('DISABLED');
      expectProblem(await me(there), 401, 'unauthenticated');
      expectProblem(await signInWith(there, passkey), 401, 'unauthenticated');
    } finally {
      await second.stop();
      await database.close();
    }
  });

  it('that is revoked between the challenge and its answer cannot be stepped up', async () => {
    const { person, visitor, passkey } = await signedIn();
    const { body: options } = await visitor.call('POST', '/signin/step-up/options');
    await customer.call('DELETE', `/v2/people/${person.id}/sessions`);
    const response = passkey.get(options, visitor);
    expectProblem(await visitor.call('POST', '/signin/step-up', { response }), 401, 'unauthenticated');
  });
});

describe('a page of somebody else', () => {
  it('cannot make a browser with a session change anything', async () => {
    const { visitor } = await signedIn();
    const before = await service.countRows();
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      { origin: visitor.origin, 'sec-fetch-site': 'same-site' },
      { origin: visitor.origin, 'sec-fetch-site': 'none' },
      { origin: 'null', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of foreign) {
      expectProblem(await visitor.call('POST', '/v2/profiles', profile, headers), 403, 'forbidden');
      expectProblem(await visitor.call('POST', '/signin/out', undefined, headers), 403, 'forbidden');
      expectProblem(await visitor.call('POST', '/signin/demo', { as: 'maker' }, headers), 403, 'forbidden');
    }
    expect(await service.countRows()).toEqual(before);
    expect((await me(visitor)).status).toBe(200);
  });

  it('is assumed if a request does not say where it comes from', async () => {
    const { visitor } = await signedIn();
    const [[name, value]] = [...visitor.cookies] as [[string, string]];
    const answer = await fetch(`${service.url}/v2/profiles`, {
      method: 'POST',
      headers: { cookie: `${name}=${value}`, 'content-type': 'application/json' },
      body: JSON.stringify(profile),
    });
    expect(answer.status).toBe(403);
    expect((await visitor.call('POST', '/v2/profiles', profile)).status).toBe(200);
  });
});

describe('requests to sign in', () => {
  it('are limited by source address, and others are not affected', async () => {
    const visitor = visit(service.url);
    const answers = [];
    for (let times = 0; times < 70; times += 1)
      answers.push(await visitor.call('POST', '/signin/enrolment/options', { token: 'A'.repeat(43) }));
    const limited = answers.find(({ status }) => status === 429)!;
    expectProblem(limited, 429, 'rate-limited');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await visit(service.url).call('POST', '/signin/passkey/options')).status).toBe(200);
  });
});
