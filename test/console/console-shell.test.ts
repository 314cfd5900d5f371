import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { IS_LONG } from '../support/rounds.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { enter, newVisitor, startProxy } from './visitor-browser.ts';

/** With the session of the person, as the console does it. */
const post = (page: Page, path: string, body: object): Promise<{ id: string }> =>
  page.evaluate(
    async ([at, sent]) => {
      const base = (globalThis as any).document.querySelector('meta[name="ferry-base"]').content;
      const response = await fetch(base + at, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(sent),
      });
      return (await response.json()) as { id: string };
    },
    [path, body] as const,
  );

describe.runIf(CHROMIUM !== undefined)('the console in a real Chromium', () => {
  let browser: Browser;
  let world: ConsoleService;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  /** Where the proxy sends requests; a closed port while the service is away. */
  let target = '';

  beforeAll(async () => {
    proxy = await startProxy('/money/ferry', () => target);
    world = await startConsoleService({ FERRY_PUBLIC_URL: proxy.url });
    target = world.service.url;
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await world?.service.stop();
  });

  const transfer = async (page: Page, amount: string): Promise<{ id: string }> =>
    post(page, '/v2/transfer/platform', {
      from_profile_id: world.profileId,
      to_profile_id: await world.service.createProfile({ id: world.customerId } as never),
      asset: 'USD',
      amount,
    });

  it('leads to the sign-in and back to the same place, behind a proxy with a path', async () => {
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'maker', '/transfers?statuses=COMPLETED');
    expect(page.url()).toBe(`${proxy.url}/console/transfers?statuses=COMPLETED`);
    await page.getByText('No transfer matches these filters').waitFor();
    await expectAccessible();
    const { id } = await transfer(page, '1234.5');
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('−1,234.5').waitFor();
    await expectAccessible();

    // With the keyboard only.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/transfers\/[0-9a-f-]{36}$/);
    await page.getByRole('heading', { name: 'Postings' }).waitFor();
    await page.getByText('Balance after').waitFor();
    await expectAccessible();
    await page.goto(`${proxy.url}/console/transfers/${id}`);
    await page.getByText('by Max Maker').or(page.getByText('by person')).first().waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it.runIf(IS_LONG)('finds views, actions and ids with the palette, and shows its keys', async () => {
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'maker', '/transfers');
    const { id } = await transfer(page, '7');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(id);
    await expectAccessible();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${proxy.url}/console/transfers/${id}`);
    await page.locator('main h1').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL(`${proxy.url}/console/transfers`);
    await page.goto(`${proxy.url}/console/nowhere`);
    await page.getByText('There is no such view').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it.runIf(IS_LONG)('shows the words of a problem and its request id', async () => {
    const { page, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'viewer', '/transfers/019bc0fd-8ba2-7b55-a0d3-6c1f94e80001').catch(
      () => undefined,
    );
    await page.getByRole('alert').getByText('Not found').waitFor();
    await page.getByText(/^Request/).waitFor();
    await close();
  });

  it.runIf(IS_LONG)('says so when the session is revoked, and comes back to the same place', async () => {
    const { page, expectAccessible, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'viewer', '/transfers?order=ASC');
    await world.service.database.query('delete from sessions');
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('Your session has ended').waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.locator('button[data-as="viewer"]').click();
    await page.waitForURL(`${proxy.url}/console/transfers?order=ASC`);
    await page.locator('main h1').waitFor();
    await close();
  });

  it('goes on by itself after the service was away', async () => {
    const { page, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'maker', '/transfers');
    target = 'http://127.0.0.1:1';
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('The service does not answer.').waitFor();
    target = world.service.url;
    await page.getByText('The service does not answer.').waitFor({ state: 'hidden', timeout: 60_000 });
    await transfer(page, '3.25');
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('−3.25').waitFor();
    await close();
  });

  it.runIf(IS_LONG)('lets an operator look at a customer', async () => {
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, proxy.url, 'operator');
    await page.getByRole('heading', { name: 'What waits' }).waitFor();
    await expectAccessible();
    await page.goto(`${proxy.url}/console/transfers?customer=${world.customerId}`);
    await page.getByText('You look at customer').waitFor();
    await page.getByRole('heading', { name: 'Transfers', level: 1 }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
