import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { fillCustomer } from './customer-data.ts';
import { enter, newVisitor } from './visitor-browser.ts';

describe.runIf(CHROMIUM !== undefined)('somebody who has only the console can', () => {
  let browser: Browser;
  let world: ConsoleService;
  let receiver: Receiver;
  let filled: Awaited<ReturnType<typeof fillCustomer>>;
  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startConsoleService({ FERRY_WORKERS: 'on' });
    filled = await fillCustomer(world, receiver.url);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
    await world?.service.stop();
  });

  async function visit(as: string, path: string) {
    const visitor = await newVisitor(browser, { acceptDownloads: true });
    visitor.page.setDefaultTimeout(60_000);
    await enter(visitor.page, world.service.url, as, path);
    return visitor;
  }

  it("export a month's statement", async () => {
    const { page, complaints, expectAccessible, close } = await visit('viewer', '/overview');
    await page.getByRole('link', { name: 'Statements' }).click();
    await page.getByRole('heading', { name: 'Statements', level: 1 }).waitFor();
    await page.getByLabel('Profile').selectOption({ label: 'Treasury' });
    await page.getByLabel('Asset').selectOption('USD');
    await page.getByText('Closing balance').waitFor();
    await expectAccessible();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const month = new Date().toISOString().slice(0, 7);
    expect(saved.suggestedFilename()).toBe(`statement-${month}-USD.csv`);
    const lines = readFileSync(await saved.path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    expect(lines.filter((line) => line.includes('INTERNAL_TRANSFER_DEBIT'))).toHaveLength(3);
    const [xml] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export camt.053' }).click(),
    ]);
    expect(readFileSync(await xml.path(), 'utf8')).toContain('camt.053.001.08');
    expect(complaints).toEqual([]);
    await close();
  });

  it('find out why a withdrawal is stuck', async () => {
    const { page, complaints, expectAccessible, close } = await visit('viewer', '/overview');
    await page.getByRole('heading', { name: 'Pending, and why' }).waitFor();
    await page.getByText(/Waiting for an approval \(rule "large payments"\)/).waitFor();
    await page.getByText('Balance in').first().waitFor({ state: 'attached' });
    await expectAccessible();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Waiting for an approval' })
      .getByRole('link')
      .first()
      .click();
    await page.waitForURL(new RegExp(`/transfers/${filled.held.id}$`));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page
      .getByText(/If it is refused, the withdrawal fails/)
      .first()
      .waitFor();
    // A viewer sees it, and cannot decide.
    expect(await page.getByRole('button', { name: 'Release' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  });

  it('approve a withdrawal that a policy holds', async () => {
    const { page, complaints, expectAccessible, close } = await visit('approver', '/approvals');
    await page.getByRole('button', { name: 'Release' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('12,520').waitFor();
    await expectAccessible();
    await dialog.getByLabel('Reason').fill('Checked with the client.');
    await dialog.getByRole('button', { name: 'Release the withdrawal' }).click();
    await page.getByText('Released. It goes to the rail now.').waitFor();
    await page.getByRole('button', { name: 'Release' }).waitFor({ state: 'detached' });
    const { status, secondary_status: waits } = await filled.call(
      'GET',
      `/v2/transfer/transfers/${filled.held.id}`,
    );
    expect(status === 'COMPLETED' || waits?.name !== 'AWAITING_APPROVAL').toBe(true);
    expect(complaints).toEqual([]);
    await close();
  });

  it('see what was sent to a webhook, and send it again', async () => {
    const { page, complaints, expectAccessible, close } = await visit('administrator', '/webhooks');
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Sent a test event.').waitFor();
    await page.locator('main').getByText('Delivered').first().waitFor();
    await expectAccessible();
    await page
      .getByRole('button', { name: /transfer\.internal/ })
      .first()
      .click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('webhook-signature').waitFor();
    await drawer.getByRole('heading', { name: /^Answer: 200/ }).waitFor();
    await expectAccessible();
    const before = receiver.hits.length;
    await drawer.getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => receiver.hits.length, { timeout: 60_000 }).toBeGreaterThan(before);
    expect(complaints).toEqual([]);
    await close();
  });

  it('add an endpoint, whose secret is shown once, and delete it', async () => {
    const { page, complaints, close } = await visit('administrator', '/webhooks?new=yes');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(`${receiver.url}/second`);
    await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByRole('heading', { name: 'Keep this secret' }).waitFor();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.waitForURL(/\/webhooks\/[0-9a-f-]{36}$/);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.waitForURL(/\/webhooks$/);
    expect(complaints).toEqual([]);
    await close();
  });

  it('follow events as they happen', async () => {
    const { page, complaints, expectAccessible, close } = await visit('viewer', '/events');
    await page.getByText('Live', { exact: true }).waitFor();
    const { id } = await filled.call('POST', '/v2/transfer/internal', {
      from_profile_id: world.profileId,
      to_profile_id: filled.desk.id,
      asset: 'USD',
      amount: '0.77',
    });
    await page.getByText('0.77 USD').first().waitFor();
    await expectAccessible();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('link', { name: 'Open it' }).click();
    await page.waitForURL(/\/transfers\/[0-9a-f-]{36}$/);
    expect(id).toBeDefined();
    expect(complaints).toEqual([]);
    await close();
  });

  it('see in the audit log who changed what', async () => {
    const { page, complaints, expectAccessible, close } = await visit(
      'viewer',
      '/audit-log?actions=policy.changed',
    );
    await page
      .getByRole('table')
      .getByRole('button', { name: /policy\.changed/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('heading', { name: 'What changed' }).waitFor();
    await expectAccessible();
    expect(complaints).toEqual([]);
    await close();
  });

  it('create an identity, an account and a profile', async () => {
    const { page, complaints, close } = await visit('maker', '/identities?new=yes');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('First name').fill('Grace');
    await dialog.getByLabel('Last name').fill('Moor');
    await dialog.getByRole('button', { name: 'Create the identity' }).click();
    await page.getByText('Grace Moor').waitFor();
    await page.getByRole('button', { name: 'Accounts' }).click();
    await page.getByRole('button', { name: 'New account' }).click();
    await dialog.getByLabel('Owner').selectOption({ label: 'Grace Moor' });
    await dialog.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('link', { name: 'Grace Moor' }).waitFor();
    await page.goto(`${world.service.url}/console/profiles?new=yes`);
    await dialog.getByLabel('Nickname').fill('Reserve');
    await dialog.getByRole('button', { name: 'Create the profile' }).click();
    await page.getByRole('heading', { name: 'Reserve' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

describe.runIf(CHROMIUM !== undefined)('two browsers for four eyes', () => {
  let browser: Browser;
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService({ FERRY_FOUR_EYES: 'on' });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  it('one person proposes a policy, and only another one can approve it', async () => {
    const [maker, checker] = [await newVisitor(browser), await newVisitor(browser)];
    for (const { page } of [maker, checker]) page.setDefaultTimeout(60_000);
    await enter(maker.page, world.service.url, 'administrator', '/policies?edit=new');
    const dialog = maker.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('large');
    await dialog.getByLabel('Reason').fill('Agreed with the board.');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText(/^Of 0 withdrawals/).waitFor();
    await maker.expectAccessible();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await maker.page.getByText('Proposed. Somebody else has to approve it.').waitFor();
    await maker.page.goto(`${world.service.url}/console/approvals`);
    await maker.page.getByRole('table').getByRole('link').first().click();
    await maker.page.getByRole('heading', { name: 'Exactly what is proposed' }).waitFor();
    expect(await maker.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);

    await enter(checker.page, world.service.url, 'approver', '/approvals');
    await checker.page.getByRole('table').getByRole('link').first().click();
    await checker.page.getByText('Agreed with the board.', { exact: true }).waitFor();
    await checker.expectAccessible();
    await checker.page.getByRole('button', { name: 'Approve', exact: true }).click();
    await checker.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await checker.page.locator('main').getByText('Executed').waitFor();

    // The browser of the first one follows by itself.
    await maker.page.locator('main').getByText('Executed').waitFor();
    await maker.page.goto(`${world.service.url}/console/policies`);
    await maker.page.getByText('A withdrawal of more than 50,000 USD is held').waitFor();
    await maker.page.getByText('In force').waitFor();
    expect([...maker.complaints, ...checker.complaints]).toEqual([]);
    await maker.close();
    await checker.close();
  });
});
