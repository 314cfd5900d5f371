import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { BITCOIN, fillCustomer } from './customer-data.ts';
import { enter, newVisitor } from './visitor-browser.ts';

describe.runIf(CHROMIUM !== undefined)('a maker creates in the console', () => {
  let browser: Browser;
  let world: ConsoleService;
  let filled: Awaited<ReturnType<typeof fillCustomer>>;
  beforeAll(async () => {
    world = await startConsoleService({ FERRY_WORKERS: 'on' });
    filled = await fillCustomer(world);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  async function visit(path: string) {
    const visitor = await newVisitor(browser);
    visitor.page.setDefaultTimeout(60_000);
    await enter(visitor.page, world.service.url, 'maker', path);
    return visitor;
  }
  const choose = (page: Page, label: string, option: string) =>
    page.getByLabel(label, { exact: true }).selectOption({ label: option });
  const confirm = (page: Page, name: string | RegExp) =>
    page.getByRole('dialog').getByRole('button', { name }).click();

  it('a platform transfer, with the keyboard only', async () => {
    const { page, complaints, expectAccessible, close } = await visit('/new/platform-transfer');
    await page.getByRole('option', { name: 'Treasury' }).first().waitFor({ state: 'attached' });
    await page.getByRole('option', { name: 'USD' }).first().waitFor({ state: 'attached' });
    await page.getByLabel('From profile').focus();
    await page.keyboard.type('Treasury');
    await page.keyboard.press('Tab');
    await page.keyboard.type(filled.partnersProfile);
    await page.keyboard.press('Tab');
    // The asset is USD already.
    await page.keyboard.press('Tab');
    // It says what is wrong while one types.
    await page.keyboard.type('10.001');
    await page.getByText('This asset has at most 2 digits after the point.').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('99999999');
    await page.getByText(/more than available/).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('10.25');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Available after').waitFor();
    await expectAccessible();
    for (let presses = 0; presses < 20; presses += 1) {
      const focused = await page.evaluate(() => (globalThis as any).document.activeElement?.textContent);
      if (focused?.startsWith('Transfer 10.25') === true) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/transfers\/[0-9a-f-]{36}$/);
    await page.getByRole('heading', { name: /Platform transfer debit/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('an internal transfer', async () => {
    const { page, complaints, close } = await visit('/new/internal-transfer');
    await choose(page, 'From profile', 'Treasury');
    await choose(page, 'To profile', 'Trading desk');
    await choose(page, 'Asset', 'BTC');
    await page.getByLabel('Amount').fill('0.00000001');
    await page.getByRole('button', { name: 'Review' }).click();
    await confirm(page, /^Transfer 0\.00000001 BTC/);
    await page.getByRole('heading', { name: /Internal transfer debit/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('a fiat withdrawal, whose fee, total and balance after are shown before', async () => {
    const { page, complaints, expectAccessible, close } = await visit('/new/fiat-withdrawal');
    await choose(page, 'From profile', 'Treasury');
    const option = page.getByRole('option', { name: /Harbour Brokerage LLC/ });
    await page.getByLabel('To fiat account').selectOption(await option.getAttribute('value'));
    await page.getByLabel('Amount in USD').fill('100.5');
    await expectAccessible();
    await page.getByRole('button', { name: 'Review' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Recipient gets').waitFor();
    const text = ((await dialog.textContent()) ?? '').replaceAll(/[\u2007\u2008]/g, '');
    expect(text).toMatch(/Fee\s*20 USD/);
    expect(text).toMatch(/Total\s*120\.5 USD/);
    expect(text).toMatch(/Available after\s*[0-9,.]+ USD/);
    await confirm(page, 'Withdraw 120.5 USD');
    await page.getByRole('heading', { name: /Wire withdrawal/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('a crypto withdrawal with a guaranteed fee, after a wrong address', async () => {
    const { page, close } = await visit('/new/crypto-withdrawal');
    await choose(page, 'From profile', 'Treasury');
    await choose(page, 'Asset', 'BTC');
    await page.getByLabel('Amount in BTC').fill('0.1');
    await page.getByLabel('Destination address').fill('0x00');
    await page.getByText('An address of this network starts with bc1, 1 or 3.').waitFor();
    // The last character is wrong: the service finds it.
    await page.getByLabel('Destination address').fill(`${BITCOIN.slice(0, -1)}5`);
    await page.getByRole('button', { name: 'Guarantee the fee and review' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Destination address').fill(BITCOIN);
    await page.getByRole('button', { name: 'Guarantee the fee and review' }).click();
    await page.getByRole('dialog').getByText('guaranteed until').waitFor();
    await confirm(page, /^Withdraw 0\.1001 BTC/);
    await page.getByRole('heading', { name: /Crypto withdrawal/ }).waitFor();
    await close();
  });

  it('a fiat account', async () => {
    const { page, complaints, expectAccessible, close } = await visit('/new/fiat-account');
    await page.getByLabel('Name of the institution').fill('Pier Nine Ltd');
    await page.getByLabel('Account number or IBAN').fill('555123456');
    await page.getByLabel('ABA number').fill('021000022');
    await page.getByText('Nine digits with a valid check digit.').waitFor();
    await page.getByLabel('ABA number').fill('021000021');
    await page.getByLabel('Name of the bank').fill('First Harbour Bank');
    await expectAccessible();
    await page.getByRole('button', { name: 'Review' }).click();
    await confirm(page, 'Register the account');
    await page.waitForURL(/fiat-accounts\?open=/);
    await page.getByRole('dialog').getByText('****3456').waitFor();
    await expectAccessible();
    expect(complaints).toEqual([]);
    await close();
  });

  it('a settlement transaction, and affirms the one of another party', async () => {
    const { page, complaints, expectAccessible, close } = await visit('/new/settlement');
    await choose(page, 'Your profile', 'Treasury');
    await page.getByLabel('Profile of the other party').fill(filled.partnersProfile);
    await page.getByLabel('Amount').first().fill('0.25');
    await page.getByLabel('Amount').nth(1).fill('15000');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('dialog').getByText('Available after').waitFor();
    await expectAccessible();
    await confirm(page, 'Offer the settlement');
    await page.waitForURL(/\/settlements\/[0-9a-f-]{36}$/);
    await page.getByText('Closes in').waitFor();

    await page.goto(`${world.service.url}/console/settlements`);
    await page.getByRole('heading', { name: /For you to affirm/ }).waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'Affirm' }).click();
    await confirm(page, 'Affirm');
    await page.getByText('Offers of other parties wait here').waitFor();
    await expect
      .poll(async () => (await filled.call('GET', `/v2/settlement/transactions/${filled.offer.id}`)).status, {
        timeout: 60_000,
      })
      .toBe('SETTLED');
    expect(complaints).toEqual([]);
    await close();
  });

  it('account members, and removes one', async () => {
    const { page, complaints, expectAccessible, close } = await visit(
      `/new/members?account=${filled.custody.id}`,
    );
    await choose(page, 'Member 1', 'Lind & Partners');
    await page.getByLabel('Beneficial owner').check();
    await expectAccessible();
    await page.getByRole('button', { name: 'Review' }).click();
    await confirm(page, 'Add the members');
    await page.waitForURL(/\/accounts\//);
    await page.getByText('Beneficial owner').waitFor();
    await page.getByRole('button', { name: 'Remove Ada Lind' }).click();
    await confirm(page, 'Remove the member');
    await page.getByRole('button', { name: 'Remove Ada Lind' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await close();
  });

  it('deposit addresses and deposit instructions', async () => {
    const { page, complaints, expectAccessible, close } = await visit('/new/deposit-address');
    await choose(page, 'Profile to credit', 'Trading desk');
    await choose(page, 'Network', 'Ethereum');
    await page.getByRole('button', { name: 'Create the address' }).click();
    await page.getByRole('heading', { name: 'Send to this address' }).waitFor();
    await page.goto(`${world.service.url}/console/new/deposit-instructions`);
    await choose(page, 'Profile to credit', 'Trading desk');
    await page.getByRole('button', { name: 'Create the instructions' }).click();
    await page.getByRole('heading', { name: 'Pay to this account' }).waitFor();
    await expectAccessible();
    expect(complaints).toEqual([]);
    await close();
  });
});
