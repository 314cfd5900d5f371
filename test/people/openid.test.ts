import { afterAll, describe, expect, it } from 'vitest';
import { bindSubject } from '../../src/people/store.ts';
import { createConfigFiles } from '../support/config.ts';
import { expectProblem, startTestService } from '../support/service.ts';
import { CLIENT, signInThere, startProvider } from './openid-provider.ts';
import { ageSessions, BEHIND_PROXY, invite, type Visitor, visit } from './visitor.ts';

const provider = await startProvider();
const files = createConfigFiles();
const service = await startTestService({
  ...BEHIND_PROXY,
  PROVIDER_SECRET: CLIENT.client_secret,
  ...(files.withFile({
    openid_provider: {
      issuer: provider.issuer,
      client_id: CLIENT.client_id,
      client_secret: { env: 'PROVIDER_SECRET' },
      name: 'Example Login',
    },
  }) as Record<string, string>),
});
afterAll(async () => {
  await service.stop();
  await provider.close();
  files.remove();
});
const { port } = new URL(service.url);
/** Where the service sends browsers back to: under the name of this machine. */
const BACK = `http://localhost:${port}/signin/openid/callback`;
provider.allow(BACK);
const customer = await service.createCustomer();

async function start(visitor: Visitor, path = '/signin/openid'): Promise<string> {
  const answer = await visitor.call('GET', path);
  expect(answer.status).toBe(303);
  return answer.headers.get('location')!;
}

/** The browser follows the provider back. Cookies that are Strict are not sent on this way. */
async function comeBack(visitor: Visitor, url: string) {
  const strict = visitor.cookies.get('ferry_session');
  visitor.cookies.delete('ferry_session');
  const answer = await visitor.call('GET', url.slice(url.indexOf('/signin')));
  if (strict !== undefined && !visitor.cookies.has('ferry_session'))
    visitor.cookies.set('ferry_session', strict);
  return answer;
}

async function signIn(visitor: Visitor, account: string, path?: string) {
  return comeBack(visitor, await signInThere(await start(visitor, path), account, BACK));
}

async function known(account: string, email = `${account}@example.com`) {
  provider.accounts.set(account, { email, email_verified: true });
  return invite(service, { customerId: customer.id, roles: ['APPROVER'], email });
}

describe('a sign-in at the OpenID provider', () => {
  it('finds the person by the verified address once, and by the account from then on', async () => {
    const person = await known('grace');
    const visitor = visit(service.url);
    const page = await signIn(visitor, 'grace');
    expect(page.status).toBe(200);
    expect(page.body).toContain('http-equiv="refresh" content="0;url=../me"');
    const me = await visitor.call('GET', '/v2/me');
    expect(me.body).toMatchObject({ id: person.id, roles: ['APPROVER'], session: { method: 'OPENID' } });
    expect(visitor.cookies.has('ferry_openid')).toBe(false);

    // The account gets another address, which now belongs to somebody else here.
    const other = await known('other', 'other@example.com');
    provider.accounts.set('grace', { email: 'other@example.com', email_verified: true });
    const again = visit(service.url);
    await signIn(again, 'grace');
    expect((await again.call('GET', '/v2/me')).body.id).toBe(person.id);
    expect(other.id).not.toBe(person.id);
  });

  it('sends the browser there with PKCE, state and nonce, and keeps them where scripts cannot read them', async () => {
    const visitor = visit(service.url);
    const url = new URL(await start(visitor));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'ferry',
      redirect_uri: BACK,
      scope: 'openid email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const [cookie] = visitor.setCookies();
    expect(cookie).toMatch(/^ferry_openid=sealed\.[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect(cookie).not.toContain(url.searchParams.get('state'));
  });

  it('signs nobody in whom an administrator has not added', async () => {
    provider.accounts.set('stranger', { email: 'stranger@example.com', email_verified: true });
    const visitor = visit(service.url);
    const answer = await signIn(visitor, 'stranger');
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('Ask an administrator to add you');
    expect(visitor.cookies.has('ferry_session')).toBe(false);
  });

  it('does not believe an address that the provider has not verified', async () => {
    await known('eve');
    provider.accounts.set('eve', { email: 'eve@example.com', email_verified: false });
    expect((await signIn(visit(service.url), 'eve')).status).toBe(401);
    // The administrator names the account instead.
    const person = await invite(service, { customerId: customer.id, roles: ['VIEWER'] });
    expect(await bindSubject(service.database, person.id, provider.issuer, 'eve')).toBe(true);
    const visitor = visit(service.url);
    expect((await signIn(visitor, 'eve')).status).toBe(200);
    expect((await visitor.call('GET', '/v2/me')).body.id).toBe(person.id);
  });

  it('of two people with the same address picks the one of the operator, and otherwise nobody', async () => {
    const [one, other] = [await service.createCustomer(), await service.createCustomer()];
    for (const account of ['shared', 'staff']) {
      provider.accounts.set(account, { email: `${account}@example.com`, email_verified: true });
      for (const { id } of [one, other])
        await invite(service, { customerId: id, roles: ['VIEWER'], email: `${account}@example.com` });
    }
    const staff = await invite(service, { customerId: null, roles: ['VIEWER'], email: 'staff@example.com' });
    expect((await signIn(visit(service.url), 'shared')).status).toBe(401);
    const visitor = visit(service.url);
    expect((await signIn(visitor, 'staff')).status).toBe(200);
    expect((await visitor.call('GET', '/v2/me')).body).toMatchObject({
      id: staff.id,
      scopes: ['operator:read'],
    });
  });

  it('is refused in a browser that has not started it, with another state, or a second time', async () => {
    await known('henry');
    const visitor = visit(service.url);
    const url = await signInThere(await start(visitor), 'henry', BACK);
    expect((await comeBack(visit(service.url), url)).status).toBe(401);
    const forged = new URL(url);
    forged.searchParams.set('state', 'A'.repeat(43));
    const mixed = visit(service.url);
    mixed.cookies.set('ferry_openid', visitor.cookies.get('ferry_openid')!);
    expect((await comeBack(mixed, forged.href)).status).toBe(401);
    const again = visit(service.url);
    again.cookies.set('ferry_openid', visitor.cookies.get('ferry_openid')!);
    expect((await comeBack(visitor, url)).status).toBe(200);
    expect((await comeBack(again, url)).status).toBe(401);
    expect(again.cookies.has('ferry_session')).toBe(false);
  });

  it('of a disabled person is refused', async () => {
    const person = await known('ivan');
    const visitor = visit(service.url);
    expect((await signIn(visitor, 'ivan')).status).toBe(200);
    await customer.call('POST', `/v2/people/${person.id}/disable`);
    expectProblem(await visitor.call('GET', '/v2/me'), 401, 'unauthenticated');
    expect((await signIn(visit(service.url), 'ivan')).status).toBe(401);
  });

  it('shows what went wrong, and never the code or the text of the provider', async () => {
    const visitor = visit(service.url);
    await start(visitor);
    const path = '/signin/openid/callback?error=access_denied&error_description=%3Cscript%3E&state=x';
    const answer = await visitor.call('GET', path);
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('Example Login did not confirm the sign-in');
    expect(answer.body).not.toContain('access_denied');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('a step-up at the OpenID provider', () => {
  it('asks for a new sign-in there, and makes the session recent for the same person only', async () => {
    const person = await known('admin');
    await customer.call('PUT', `/v2/people/${person.id}`, { roles: ['ADMINISTRATOR'] });
    await known('somebody');
    const visitor = visit(service.url);
    await signIn(visitor, 'admin');
    await ageSessions(service, person.id, 11);
    const add = () =>
      visitor.call('POST', '/v2/people', { name: 'New', email: 'new@example.com', roles: ['VIEWER'] });
    expectProblem(await add(), 403, 'step-up-required');
    const url = new URL(await start(visitor, '/signin/openid?step_up'));
    expect(url.searchParams.get('prompt')).toBe('login');
    expect((await signIn(visitor, 'somebody', '/signin/openid?step_up')).status).toBe(401);
    expectProblem(await add(), 403, 'step-up-required');
    const [[name, before]] = [...visitor.cookies] as [[string, string]];
    expect((await signIn(visitor, 'admin', '/signin/openid?step_up')).status).toBe(200);
    expect(visitor.cookies.get(name)).toBe(before);
    expect((await add()).status).toBe(200);
  });
});
