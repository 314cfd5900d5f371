import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/kernel/problem.ts';
import { type Operation, registeredRoutes } from '../support/openapi.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

const service = await startTestService();
afterAll(() => service.stop());
const { document, operations } = service.description;
/** The host of webhooks in examples, a reserved name. */
const EXAMPLE = 'https://example.com';

describe('problems', () => {
  const types = new Set(
    [...JSON.stringify(document).matchAll(/"type":"([^"]+\/problems\/[^"]+)"/g)].map(([, type]) => type!),
  );

  it.each(Object.entries(PROBLEMS))(
    '%s has a page with its title and its status',
    async (slug, { title, status }) => {
      const response = await fetch(`${service.url}/problems/${slug}`);
      const html = await response.text();
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(html).toContain(`<h1>${title}</h1>`);
      expect(html).toContain(String(status));
      expect(html).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    },
  );

  it('have a type that is the address of their page', async () => {
    expect(types.size).toBeGreaterThan(10);
    for (const type of types) expect((await fetch(type)).status).toBe(200);
    const answer = await service.anonymous.call('GET', '/v2/profiles');
    expectProblem(answer, 401, 'unauthenticated');
    expect(types).toContain(answer.body.type);
  });

  it('are all listed on one page with links to the others', async () => {
    const html = await (await fetch(`${service.url}/problems`)).text();
    const links = [...html.matchAll(/href="(problems\/[^"]+)"/g)].map(([, link]) => link);
    expect(links).toEqual(Object.keys(PROBLEMS).map((slug) => `problems/${slug}`));
  });

  it('that are unknown have no page', async () => {
    expectProblem(await service.anonymous.call('GET', '/problems/bad-luck'), 404, 'not-found');
    expectProblem(await service.anonymous.call('GET', '/problems/constructor'), 404, 'not-found');
  });
});

describe('/docs', () => {
  // With wrong credentials in the header a browser asks its user, and the page does not get the answer.
  it('sends the credentials of a client in the body', () => {
    const { clientCredentials } = document.components.securitySchemes.oauth2.flows;
    expect(clientCredentials['x-scalar-credentials-location']).toBe('body');
  });

  it('is a page without external resources', async () => {
    const response = await fetch(`${service.url}/docs`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(html).not.toMatch(/https?:\/\//);
    expect(html).not.toMatch(/(src|href)="\/\//);
    const scripts = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source]) => source!);
    expect(scripts).toHaveLength(1);
    const script = await fetch(new URL(scripts[0]!, response.url));
    expect(script.status).toBe(200);
    expect(script.headers.get('content-type')).toMatch(/javascript/);
    expect((await script.text()).length).toBeGreaterThan(1_000_000);
    const [, url] = /createApiReference\('#app', \{.*?"url": "([^"]+)"/s.exec(html)!;
    expect(new URL(url!, response.url).href).toBe(`${service.url}/openapi.json`);
  });
});

describe('in production', () => {
  const PUBLIC_URL = 'https://ferry.example';
  let production: TestService;
  beforeAll(async () => {
    production = await startTestService({
      FERRY_MODE: 'production',
      DATABASE_URL: 'postgres://nobody@localhost/unused',
      FERRY_PUBLIC_URL: PUBLIC_URL,
      FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    });
  });
  afterAll(() => production.stop());

  const isSimulation = (operation: Operation): boolean => operation.scopes.includes('sandbox:simulate');

  it('there is no simulation, neither in the document nor as a route', async () => {
    const simulations = operations.filter(isSimulation);
    expect(simulations.length).toBeGreaterThan(0);
    expect(simulations.filter(({ path }) => !path.startsWith('/v2/sandbox/'))).toEqual([]);
    const rest = operations.filter((operation) => !isSimulation(operation));
    expect(production.description.operations.map(({ name }) => name)).toEqual(rest.map(({ name }) => name));
    expect(registeredRoutes(production).filter(({ path }) => path.includes('sandbox'))).toEqual([]);
    expect(production.description.document.tags.map(({ name }: { name: string }) => name)).not.toContain(
      'Sandbox',
    );
    const customer = await production.createCustomer();
    for (const { method, path } of simulations) {
      const real = path.replace('{id}', await production.createProfile(customer));
      expectProblem(await customer.call(method, real, {}), 404, 'not-found');
    }
  });

  it('every address is the public one', async () => {
    const text = JSON.stringify(production.description.document);
    const addresses = [...text.matchAll(/https?:\/\/[^/"\s`]+/g)].map(([address]) => address);
    expect(new Set(addresses)).toEqual(new Set([PUBLIC_URL, EXAMPLE]));
    const answer = await production.anonymous.call('GET', '/v2/profiles');
    expect(answer.body.type).toBe(`${PUBLIC_URL}/problems/unauthenticated`);
  });
});
