import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { until } from '../support/until.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { createOperatorWorld, fourEyesForFreezes, type OperatorWorld } from './operator-world.ts';
import { enter, newVisitor } from './visitor-browser.ts';

describe.runIf(CHROMIUM !== undefined)('somebody who has only the console', () => {
  let browser: Browser;
  let world: ConsoleService;
  let operator: OperatorWorld;
  let url = '';
  beforeAll(async () => {
    world = await startConsoleService(fourEyesForFreezes());
    operator = await createOperatorWorld(world);
    await operator.holdLarge();
    browser = await openChromium();
    ({ url } = world.service);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  it('can find out why a withdrawal is stuck', async () => {
    const id = await operator.withdraw('1.25');
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, url, 'operator');
    await page.getByRole('link', { name: '1.25 BTC over BITCOIN' }).click();
    await page.waitForURL(`${url}/console/operator/withdrawals/${id}`);
    const why = page.getByRole('region', { name: 'Why it waits' });
    await why.getByText('Waiting for an approval (rule "large payments").').waitFor();
    await why.getByText('A policy requires that somebody approves it.').waitFor();
    await page.getByText('Attempts', { exact: true }).waitFor();
    await page.getByText('Requested, pending').waitFor();
    await expectAccessible();
    // An operator who may not approve is not offered to.
    expect(await page.getByRole('button', { name: 'Release' }).count()).toBe(0);

    // The same with the keyboard only, from the list.
    await page.goto(`${url}/console/operator/withdrawals`);
    await page.getByText('1.25').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/console/operator/withdrawals/${id}`);
    await why.waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('can approve a withdrawal', async () => {
    const id = await operator.withdraw('1.5');
    const [first, second] = [await newVisitor(browser), await newVisitor(browser)];
    await enter(first.page, url, 'operator', `/operator/withdrawals/${id}`);
    await enter(second.page, url, 'controller', `/operator/withdrawals/${id}`);
    await second.page.getByRole('button', { name: 'Release' }).click();
    const dialog = second.page.getByRole('dialog', { name: 'Release the withdrawal' });
    await dialog.getByText('1.5 BTC are handed to the BITCOIN rail').waitFor();
    await dialog.getByLabel('Reason').fill('Checked with the payee: CASE-2311.');
    await second.expectAccessible();
    await dialog.getByRole('button', { name: 'Release' }).click();
    await second.page.getByText('Released.').first().waitFor();
    // The other browser sees it by itself.
    await first.page.getByText('Waiting to be submitted to the BITCOIN rail.').first().waitFor();
    await first.page.getByText('Checked with the payee: CASE-2311.').waitFor();
    expect([...first.complaints, ...second.complaints]).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it('can credit a deposit from suspense', async () => {
    await operator.depositInSuspense('250.25');
    const profile = await world.service.createProfile({ id: world.customerId } as never);
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, url, 'operator');
    await page.getByRole('link', { name: '250.25 USD over wire' }).click();
    const drawer = page.getByRole('dialog', { name: 'Deposit in suspense' });
    await drawer.getByText('INVOICE 4711').first().waitFor();
    await expectAccessible();
    await drawer.getByRole('button', { name: 'Credit a profile' }).click();
    const dialog = page.getByRole('dialog', { name: 'Credit the deposit' });
    await dialog.getByLabel('Profile').fill(profile);
    await dialog.getByLabel('Reason').fill('The sender named the wrong invoice.');
    await dialog.getByLabel('Evidence').fill('CASE-2312');
    await expectAccessible();
    await dialog.getByRole('button', { name: 'Credit 250.25 USD' }).click();
    await page.getByText('Credited 250.25 USD.').first().waitFor();
    const { body } = await operator.client.call('GET', `/v2/profiles/${profile}/balances/USD`);
    expect(body.available).toBe('250.25');
    expect(complaints).toEqual([]);
    await close();
  });

  it('can propose a freeze, which somebody else approves in another browser', async () => {
    const profile = await world.service.createProfile({ id: world.customerId } as never);
    const [first, second] = [await newVisitor(browser), await newVisitor(browser)];
    await enter(first.page, url, 'operator', '/operator/freezes?open=new');
    const dialog = first.page.getByRole('dialog', { name: 'Freeze' });
    await dialog.getByLabel('Id of the profile').fill(profile);
    await dialog.getByLabel('Reason').fill('Court order 2311.');
    await dialog.getByRole('button', { name: 'Freeze the profile' }).click();
    await first.page.waitForURL(/\/operator\/approvals\/[0-9a-f-]{36}$/);
    await first.page.getByRole('heading', { name: 'What will happen' }).waitFor();
    await first.expectAccessible();
    // Who proposed it cannot approve it.
    expect(await first.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);

    await enter(second.page, url, 'controller', new URL(first.page.url()).pathname.slice('/console'.length));
    await second.page.getByText(profile).first().waitFor();
    await second.page.getByRole('button', { name: 'Approve', exact: true }).click();
    const vote = second.page.getByRole('dialog', { name: 'Approve this request' });
    await vote.getByText('the action is executed at once').waitFor();
    await second.expectAccessible();
    await vote.getByRole('button', { name: 'Approve' }).click();
    await second.page.getByText('Approved and executed.').first().waitFor();
    const { body } = await operator.client.call('GET', '/v2/operator/freezes?statuses=IN_FORCE');
    expect(body.items.map(({ subject_id: id }: { subject_id: string }) => id)).toContain(profile);
    await first.page.getByRole('heading', { name: 'What happened' }).waitFor();
    expect([...first.complaints, ...second.complaints]).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it('can try a policy before it is in force, and find anything by its reference', async () => {
    await operator.withdraw('0.5');
    const { page, complaints, expectAccessible, close } = await newVisitor(browser);
    await enter(page, url, 'operator', '/operator/policies/new');
    await page.getByLabel('Name').first().fill('small withdrawals only');
    await page.getByLabel('Asset', { exact: true }).fill('BTC');
    await page.getByLabel('At most').fill('0.1');
    await page.getByRole('button', { name: 'Try it on the last 30 days' }).click();
    await page.getByText('amount limit').first().waitFor();
    await page.getByText('Refused', { exact: true }).first().waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create the policy' });
    await dialog.getByLabel('Reason').fill('Agreed with risk: CASE-2291.');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The policy is in force.').first().waitFor();
    await until('the policy is there', async () => {
      const { body } = await operator.client.call('GET', '/v2/operator/policies');
      return body.items.some(({ name }: { name: string }) => name === 'small withdrawals only');
    });

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('payout-1');
    await page.keyboard.press('Enter');
    await page.getByText('by ref_id').first().waitFor();
    await expectAccessible();
    expect(complaints).toEqual([]);
    await close();
  });
});
