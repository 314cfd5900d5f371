import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';

describe('the pages for people', () => {
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService({ FERRY_PUBLIC_URL: 'http://127.0.0.1:8080/money' });
  });
  afterAll(() => world?.service.stop());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(world.service.url + path, { headers });
  const index = async (path = '/console'): Promise<Response> => {
    let response = await get(path);
    await until('the console is built', async () => {
      response = await get(path);
      return response.status === 200;
    });
    return response;
  };

  it('the root is a page for people, and JSON for machines', async () => {
    const page = await get('/', { accept: 'text/html,*/*' });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    const text = await page.text();
    for (const link of ['console', 'signin', 'docs/']) expect(text).toContain(`href="${link}"`);
    expect(text).toContain('Sandbox: no real money moves');
    const answer = await get('/');
    expect(await answer.json()).toMatchObject({
      name: 'ferry',
      mode: 'sandbox',
      ready: true,
      links: { console: 'http://127.0.0.1:8080/money/console' },
    });
    expect(answer.headers.get('vary')).toBe('accept');
  });

  it('every path below the console answers the same page, with the path of the public URL in it', async () => {
    const page = await index();
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'self';/);
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const text = await page.text();
    expect(text).toContain('<meta name="ferry-base" content="/money"');
    expect(text).toContain('src="/money/console/assets/');
    expect(text).not.toMatch(/<script>|<style|"\.\/assets/);
    expect(await (await index('/console/transfers/some-id?x=1')).text()).toBe(text);
    const again = await get('/console', { 'if-none-match': page.headers.get('etag')! });
    expect(again.status).toBe(304);
  });

  it('files are compressed, kept forever, and the first view is below 200 KB', async () => {
    const text = await (await index()).text();
    const names = [...text.matchAll(/"\/money(\/console\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    expect(names.length).toBeGreaterThan(1);
    let bytes = 0;
    for (const name of names) {
      const response = await get(name, { 'accept-encoding': 'br' });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-encoding')).toBe('br');
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      bytes += Number(response.headers.get('content-length'));
    }
    expect(bytes).toBeLessThan(185_000);
    expect((await get('/console/assets/gone.js')).status).toBe(404);
    expect((await get('/console/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });
});
