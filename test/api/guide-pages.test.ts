import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../house/sources.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ FERRY_PUBLIC_URL: 'https://pay.example/ferry' });
});
afterAll(() => service.stop());

const page = async (path: string) => {
  const response = await fetch(`${service.url}/docs/guides/${path}`);
  return { status: response.status, headers: response.headers, html: await response.text() };
};

const names = (folder: string, prefix = ''): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => prefix + name.replace(/\.md$/, ''));

describe('the guides under /docs/guides', () => {
  it('have every text of docs/, and no link among them is broken', async () => {
    const all = ['', 'decisions', ...names('docs'), ...names('docs/decisions', 'decisions/')];
    const broken: string[] = [];
    const known = new Map<string, Set<string>>();
    const found: [string, string, string | undefined][] = [];
    for (const name of all) {
      const { status, html } = await page(name);
      if (status !== 200) broken.push(name);
      known.set(name, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!)));
      for (const [, href = ''] of html.matchAll(/<a href="([^"]+)"/g)) {
        if (/^https?:/.test(href)) continue;
        const { pathname, hash } = new URL(href, `http://x/docs/guides/${name}`);
        if (!pathname.startsWith('/docs/guides/')) continue;
        found.push([
          name,
          pathname.slice('/docs/guides/'.length),
          hash === '' ? undefined : decodeURIComponent(hash.slice(1)),
        ]);
      }
    }
    const others = ['readme', 'architecture', 'changelog', 'contributing', 'security', 'client', 'console'];
    for (const [from, to, anchor] of found) {
      if (others.includes(to)) continue;
      const anchors = known.get(to);
      if (anchors === undefined) broken.push(`${from} → ${to}`);
      else if (anchor !== undefined && !anchors.has(anchor)) broken.push(`${from} → ${to}#${anchor}`);
    }
    expect(broken).toEqual([]);
  });

  it('have the address of this service in the examples', async () => {
    const { html } = await page('quickstart');
    expect(html).toContain('data-ferry="https://pay.example/ferry"');
    const { html: sandbox } = await page('sandbox');
    expect(sandbox).not.toMatch(/(127\.0\.0\.1|localhost):8080/);
  });

  it('run no inline code, and have a script and a style', async () => {
    const { html, headers } = await page('');
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/);
    expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    for (const name of ['guides.js', 'guides.css']) expect((await page(name)).status).toBe(200);
  });

  it('answer 404 for a guide that is not there', async () => {
    for (const name of ['none', 'decisions/none', '..%2fpackage.json']) {
      const response = await fetch(`${service.url}/docs/guides/${name}`);
      expectProblem(
        { status: response.status, headers: response.headers, body: await response.json() },
        404,
        'not-found',
      );
    }
  });
});
