import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { BEHIND_PROXY, visit } from './visitor.ts';

let service: TestService;
let customer: TestCustomer;
let credentials: { client_id: string; client_secret: string };
beforeAll(async () => {
  service = await startTestService(BEHIND_PROXY);
  customer = await service.createCustomer();
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'in a browser',
    scopes: ['funding:read_profile', 'funding:write_profile'],
  });
  credentials = { client_id: clientId, client_secret: clientSecret };
});
afterAll(() => service.stop());

describe('a client in a browser', () => {
  it('is the caller of operations, with its own scopes', async () => {
    const visitor = visit(service.url);
    expect(await visitor.call('POST', '/signin/client', credentials)).toMatchObject({
      status: 200,
      body: {},
    });
    const { body } = await visitor.call('GET', '/v2/me');
    expect(body).toMatchObject({ kind: 'CLIENT', id: credentials.client_id, customer_id: customer.id });
    const made = await visitor.call('POST', '/v2/profiles', { nickname: 'from a browser' });
    expect(made.status).toBe(200);
    expectProblem(await visitor.call('GET', '/v2/transfer/transfers'), 403, 'insufficient-scope');
  });

  it('never shows its token to the page: the cookie is sealed, and no script can read it', async () => {
    const visitor = visit(service.url);
    await visitor.call('POST', '/signin/client', credentials);
    const [cookie] = visitor.setCookies();
    expect(cookie).toMatch(/^ferry_client=sealed\./);
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(cookie!.length).toBeLessThan(4_096);
    expect(cookie).not.toContain('eyJ');
  });

  it('is refused for a page of another site, and if somebody has changed the cookie', async () => {
    const visitor = visit(service.url);
    await visitor.call('POST', '/signin/client', credentials);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expectProblem(await visitor.call('POST', '/v2/profiles', { nickname: 'x' }, foreign), 403, 'forbidden');
    expectProblem(await visitor.call('POST', '/signin/client', credentials, foreign), 403, 'forbidden');
    const sealed = visitor.cookies.get('ferry_client')!;
    visitor.cookies.set('ferry_client', `${sealed.slice(0, -4)}AAAA`);
    expectProblem(await visitor.call('GET', '/v2/me'), 401, 'unauthenticated');
  });

  it('is refused with a wrong secret, in the words of the token endpoint', async () => {
    const visitor = visit(service.url);
    const wrong = { ...credentials, client_secret: 'wrong' };
    expectProblem(await visitor.call('POST', '/signin/client', wrong), 401, 'unauthenticated');
    expect(visitor.cookies.size).toBe(0);
    expectProblem(await visitor.call('POST', '/signin/client', { client_id: 'x' }), 400, 'invalid-request');
  });

  it('leaves with the sign-out', async () => {
    const visitor = visit(service.url);
    await visitor.call('POST', '/signin/client', credentials);
    const copied = visitor.cookies.get('ferry_client')!;
    await visitor.call('POST', '/signin/out');
    expect(visitor.cookies.size).toBe(0);
    expectProblem(await visitor.call('GET', '/v2/me'), 401, 'unauthenticated');
    // The token is revoked: a copy of the cookie is of no use.
    visitor.cookies.set('ferry_client', copied);
    expectProblem(await visitor.call('GET', '/v2/me'), 401, 'unauthenticated');
    expect((await visitor.call('POST', '/signin/out')).status).toBe(200);
  });
});
