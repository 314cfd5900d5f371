import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { enter, newVisitor, startProxy } from './visitor-browser.ts';

describe.runIf(CHROMIUM !== undefined)('the documentation in a real Chromium', () => {
  let browser: Browser;
  let world: ConsoleService;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    proxy = await startProxy('/money/ferry', () => world.service.url);
    world = await startConsoleService({ FERRY_PUBLIC_URL: proxy.url });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await world?.service.stop();
  });

  it('sends a request from the reference with the first click, as a person of the demo', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    for (const [place, path] of [
      ['tag/profiles/GET/v2/profiles', '/v2/profiles'],
      ['tag/operator/GET/v2/operator/withdrawals', '/v2/operator/withdrawals'],
    ] as const) {
      // Without the session of the operation before.
      await page.context().clearCookies();
      await page.goto('about:blank');
      await page.goto(`${proxy.url}/docs/#${place}`);
      await page
        .getByRole('button', { name: new RegExp(`Test Request ?\\(?get ${path}\\)?$`, 'i') })
        .first()
        .click();
      const answered = page.waitForResponse((one) => new URL(one.url()).pathname.endsWith(path) && one.ok());
      await page.getByRole('button', { name: /^Send/ }).first().click();
      const body = (await (await answered).json()) as { items: unknown[] };
      expect(Array.isArray(body.items)).toBe(true);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it('has the address of the service in the guides, and ids of the reader who is signed in', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    const examples = (): Promise<string> =>
      page.evaluate(() =>
        [...(globalThis as any).document.querySelectorAll('pre code')]
          .map((code: any) => code.textContent)
          .join('\n'),
      );
    await page.goto(`${proxy.url}/docs/guides/quickstart`);
    await expect.poll(examples).toContain(`${proxy.url}/oauth2/token`);
    expect(await examples()).toContain('$CLIENT_ID');
    expect(await examples()).not.toContain('127.0.0.1:8080');

    const { clientId, clientSecret } = await createClient(world.service.database, world.service.vault, {
      customer: world.customerId,
      name: 'of a reader',
      scopes: ['funding:read_profile', 'transfer:read_fiat_account'],
    });
    await page.goto(`${proxy.url}/signin`);
    const status = await page.evaluate(
      async ([id, secret]) =>
        (
          await fetch('signin/client', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ client_id: id, client_secret: secret }),
          })
        ).status,
      [clientId, clientSecret] as const,
    );
    expect(status).toBe(200);
    await page.goto(`${proxy.url}/docs/guides/quickstart`);
    await page.getByText('ids of your client and its customer').waitFor();
    expect(await examples()).toContain(`${clientId}:$CLIENT_SECRET`);
    expect(await examples()).toContain(`"from_profile_id": "${world.profileId}"`);

    // A person has no client of their own, but sees those of the customer.
    await page.context().clearCookies();
    await enter(page, proxy.url, 'viewer', '/access');
    await page.getByText('of a reader', { exact: true }).waitFor();
    await page.getByText('2 scopes', { exact: true }).click();
    await page.getByText('funding:read_profile transfer:read_fiat_account').waitFor();
    await page.goto(`${proxy.url}/docs/guides/quickstart`);
    await expect.poll(examples).toContain(`${clientId}:$CLIENT_SECRET`);
    expect(complaints).toEqual([]);
    await close();
  });
});
