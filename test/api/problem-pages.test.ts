import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/kernel/problem.ts';
import { expectProblem, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(() => service.stop());
const { document } = service.description;

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
    const { url } = JSON.parse(/createApiReference\('#app', (\{.*\})\)/s.exec(html)![1]!);
    expect(new URL(url, response.url).href).toBe(`${service.url}/openapi.json`);
  });
});
