import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer } from '../../src/auth/administration.ts';
import { createConfigFiles } from '../support/config.ts';
import { IS_LONG } from '../support/rounds.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CHROMIUM, newPerson, openChromium } from './chromium.ts';
import { CLIENT, startProvider, type TestProvider } from './openid-provider.ts';
import { ageSessions, invite } from './visitor.ts';

/** Set to a directory, the tests leave pictures of the pages there. */
const { FERRY_TEST_SCREENS: SCREENS } = process.env;

async function picture(page: Page, name: string): Promise<void> {
  if (SCREENS === undefined) return;
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: join(SCREENS, `${name}.png`), fullPage: true });
}

if (CHROMIUM === undefined)
  console.warn('Chromium is not installed: sign-in is not tested in a real browser.');

describe.runIf(CHROMIUM !== undefined)('in a real Chromium', () => {
  let service: TestService;
  let provider: TestProvider;
  let browser: Browser;
  /** The service under the name of this machine: browsers make passkeys for names only. */
  let url: string;
  let customer: Awaited<ReturnType<TestService['createCustomer']>>;
  const files = createConfigFiles();

  beforeAll(async () => {
    provider = await startProvider();
    service = await startTestService({
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
    url = `http://localhost:${new URL(service.url).port}`;
    provider.allow(`${url}/signin/openid/callback`);
    customer = await service.createCustomer();
    await createCustomer(service.database, { name: 'Harbour Brokerage', integration: 'FIRST_PARTY' });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await provider?.close();
    files.remove();
  });

  const message = (page: Page) => page.locator('#message');

  it('a person enrols, signs out, signs in, steps up, adds and removes a passkey, and is revoked', async () => {
    const person = await invite(service, {
      customerId: customer.id,
      roles: ['MAKER', 'ADMINISTRATOR'],
      name: 'Ada Lindqvist',
    });
    const { page, passkeys, complaints } = await newPerson(browser);
    await page.goto(`${url}/signin/enrol#${person.token}`);
    await page.getByText(`For Ada Lindqvist, ${person.email}.`).waitFor();
    expect(page.url()).toBe(`${url}/signin/enrol`);
    await picture(page, 'enrol');
    await page.getByLabel('Name of this device').fill('Work laptop');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.waitForURL(`${url}/signin/me`);
    await page.getByText('Work laptop').waitFor();
    expect(await passkeys()).toBe(1);
    await page.getByText('maker, administrator').waitFor();
    await picture(page, 'me');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${url}/signin`);
    await page.goto(`${url}/signin/me`);
    await page.waitForURL(`${url}/signin`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await picture(page, 'signin');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(`${url}/signin/me`);
    await page.getByText('Work laptop').waitFor();

    // Too long ago: the page asks for the passkey again by itself, and goes on.
    await ageSessions(service, person.id, 11);
    await page.getByRole('button', { name: 'Confirm that it is you' }).click();
    await page.getByText('Confirmed.').waitFor();
    const [session] = await service.database.query<{ ago: bigint }>(
      `select (extract(epoch from clock_timestamp()) * 1000)::bigint - authenticated_at_ns / 1000000 as ago
       from sessions where person_id = $1`,
      [person.id],
    );
    expect(Number(session!.ago)).toBeLessThan(120_000);
    await ageSessions(service, person.id, 11);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This is your last passkey.').waitFor();

    await service.database.query('delete from sessions where person_id = $1', [person.id]);
    await page.reload();
    await page.waitForURL(`${url}/signin`);
    expect(complaints).toEqual([]);
  });

  it.runIf(IS_LONG)('a person adds a second passkey from another device, and removes the first', async () => {
    const person = await invite(service, { customerId: customer.id, roles: ['VIEWER'] });
    const first = await newPerson(browser);
    await first.page.goto(`${url}/signin/enrol#${person.token}`);
    await first.page.getByRole('button', { name: 'Create a passkey' }).click();
    await first.page.waitForURL(`${url}/signin/me`);
    // The same device refuses a second passkey for the same person.
    await first.page.getByRole('button', { name: 'Add a passkey' }).click();
    await first.page.getByText('This device has a passkey for you already.').waitFor();
    expect(await first.passkeys()).toBe(1);
    const answer = await customer.call('POST', `/v2/people/${person.id}/enrolment-links`);
    const second = await newPerson(browser);
    await second.page.goto(answer.body.enrolment_url);
    await second.page.getByLabel('Name of this device').fill('Phone');
    await second.page.getByRole('button', { name: 'Create a passkey' }).click();
    await second.page.waitForURL(`${url}/signin/me`);
    await second.page.locator('#passkeys li').nth(1).waitFor();
    await second.page.locator('#passkeys li').first().getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => second.page.locator('#passkeys li').count()).toBe(1);
    await second.page.locator('#sessions').getByRole('button', { name: 'End' }).click();
    await expect.poll(() => second.page.locator('#sessions li').count()).toBe(1);
    await first.page.reload();
    await first.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await first.page.getByText('This passkey is not known here.').waitFor();
  });

  it('nobody gets in without confirming on the device, with a used link, or on a wrong link', async () => {
    const person = await invite(service, { customerId: customer.id, roles: ['VIEWER'] });
    const { page, confirms, passkeys } = await newPerson(browser);
    await page.goto(`${url}/signin/enrol#${'A'.repeat(43)}`);
    await page.getByText('This link has expired, was used').waitFor();
    await picture(page, 'enrol-expired');
    await page.goto('about:blank');
    await page.goto(`${url}/signin/enrol#${person.token}`);
    await confirms(false);
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await expect.poll(() => message(page).textContent()).toContain('Try again');
    expect(await passkeys()).toBe(0);
    await confirms(true);
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.waitForURL(`${url}/signin/me`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${url}/signin`);
    await confirms(false);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await expect.poll(() => message(page).textContent()).toContain('Try again');
    await page.goto(`${url}/signin/me`);
    await page.waitForURL(`${url}/signin`);
  });

  it.runIf(IS_LONG)(
    'a person signs in at the OpenID provider, and is still there after the way back',
    async () => {
      provider.accounts.set('grace', { email: 'grace@example.com', email_verified: true });
      await invite(service, {
        customerId: null,
        roles: ['VIEWER'],
        email: 'grace@example.com',
        name: 'Grace',
      });
      const { page, complaints } = await newPerson(browser);
      await page.goto(`${url}/signin`);
      await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
      await page.locator('input[name=login]').fill('grace');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.locator('button[type=submit]').click();
      await page.waitForURL(`${url}/signin/me`);
      await page.getByText('the operator, all customers').waitFor();
      expect(
        complaints.filter((one) => one.includes('Content Security Policy') && one.includes('signin')),
      ).toEqual([]);
    },
  );

  it.runIf(IS_LONG)('a person of the sandbox is entered with one click', async () => {
    const { page, complaints } = await newPerson(browser);
    // At an address without a name, passkeys do not work, and the page leads to the one where they do.
    await page.goto(`${service.url}/signin`);
    await page.getByRole('link', { name: /Sign in with a passkey at localhost/ }).waitFor();
    await page.goto(`${url}/signin`);
    await page.getByRole('button', { name: /Max Maker/ }).click();
    await page.waitForURL(`${url}/signin/me`);
    await page.getByText('Max Maker').waitFor();
    expect(complaints).toEqual([]);
  });
});
