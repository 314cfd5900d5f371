import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer } from '../../src/auth/administration.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';
import { BEHIND_PROXY, visit } from './visitor.ts';

let sandbox: TestService;
let production: TestService;
beforeAll(async () => {
  sandbox = await startTestService(BEHIND_PROXY);
  production = await startTestService({
    ...BEHIND_PROXY,
    FERRY_MODE: 'production',
    DATABASE_URL: 'postgres://unused@localhost/unused',
    FERRY_PUBLIC_URL: 'https://pay.example/ferry',
    FERRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
});
afterAll(async () => {
  await sandbox.stop();
  await production.stop();
});

describe('the pages under /signin', () => {
  it.each(['/signin', '/signin/enrol', '/signin/me'])(
    '%s runs no inline code, and nobody can frame it',
    async (path) => {
      const { status, headers, body } = await visit(sandbox.url).call('GET', path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(body).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style="/);
    },
  );

  it.each([
    ['/signin', 'signin/'],
    ['/signin/enrol', ''],
    ['/signin/me', ''],
  ])(
    '%s refers to its files relative to its own address, because the public URL can have a path',
    async (path, base) => {
      const { body } = await visit(production.url).call('GET', path);
      const addresses = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match: string[]) => match[1]);
      expect(addresses).toEqual(expect.arrayContaining([`${base}app.js`, `${base}style.css`]));
      expect(addresses.filter((one) => /^(\/|https?:)/.test(one!))).toEqual([]);
    },
  );

  it('have a script and a style', async () => {
    const types = { 'app.js': 'text/javascript', 'style.css': 'text/css' };
    for (const [name, type] of Object.entries(types)) {
      const { status, headers } = await visit(sandbox.url).call('GET', `/signin/${name}`);
      expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    }
    expectProblem(await visit(sandbox.url).call('GET', '/signin/../../package.json'), 404, 'not-found');
  });
});

describe('the people of the demo', () => {
  it('are entered with one click in the sandbox', async () => {
    const absent = await visit(sandbox.url).call('POST', '/signin/demo', { as: 'maker' });
    expectProblem(absent, 404, 'not-found');
    const customer = await createCustomer(sandbox.database, {
      name: 'Harbour Brokerage',
      integration: 'FIRST_PARTY',
    });
    const { demo } = (await visit(sandbox.url).call('GET', '/signin/ways')).body;
    const roles = { viewer: 'VIEWER', maker: 'MAKER', approver: 'APPROVER', administrator: 'ADMINISTRATOR' };
    expect(demo.map(({ as }: { as: string }) => as)).toEqual([
      ...Object.keys(roles),
      'operator',
      'controller',
    ]);
    for (const [as, role] of Object.entries(roles)) {
      const visitor = visit(sandbox.url);
      expect((await visitor.call('POST', '/signin/demo', { as })).status).toBe(200);
      const { body } = await visitor.call('GET', '/v2/me');
      expect(body).toMatchObject({ customer_id: customer.id, roles: [role], session: { method: 'DEMO' } });
    }
    const operators = await Promise.all(
      [1, 2, 3].map(async () => {
        const visitor = visit(sandbox.url);
        await visitor.call('POST', '/signin/demo', { as: 'operator' });
        return (await visitor.call('GET', '/v2/me')).body;
      }),
    );
    // Several clicks at once enter the same person.
    expect(new Set(operators.map(({ id }) => id)).size).toBe(1);
    expect(operators[0]).not.toHaveProperty('customer_id');
    expect(operators[0].scopes).toContain('people:write_person');
    expectProblem(
      await visit(sandbox.url).call('POST', '/signin/demo', { as: 'king' }),
      400,
      'invalid-request',
    );
  });

  it('do not exist in production', async () => {
    const visitor = visit(production.url, 'https://pay.example');
    expectProblem(await visitor.call('POST', '/signin/demo', { as: 'operator' }), 404, 'not-found');
    const { body } = await visitor.call('GET', '/signin/ways');
    expect(body).toEqual({ passkeys: true, url: 'https://pay.example/ferry/signin', demo: [] });
    const rows = await production.database.query('select id from people');
    expect(rows).toEqual([]);
  });
});
