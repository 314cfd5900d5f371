import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { fillOperatorScreens } from './operator-world.ts';
import { enter, newVisitor } from './visitor-browser.ts';

/** `npm run console:screens` sets it: pictures of every screen are left there. */
const { FERRY_CONSOLE_SCREENS: PICTURES } = process.env;

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
};

type Listed = { id: string; audience: string; path?: string };

describe.runIf(CHROMIUM !== undefined)('every screen', () => {
  let browser: Browser;
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService();
    browser = await openChromium();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  const people = [
    ['maker', ['customer', 'everyone']],
    ['operator', ['operator', 'everyone']],
  ] as const;

  for (const [person, audiences] of people)
    for (const [look, options] of Object.entries(LOOKS))
      it(`of the ${person} is accessible, complains of nothing, and fits: ${look}`, {
        timeout: 600_000,
      }, async () => {
        const { page, complaints, expectAccessible, close } = await newVisitor(browser, options);
        await enter(page, world.service.url, person);
        if (person === 'maker' && look === 'light') await fill(page.request, world);
        if (person === 'operator' && look === 'light') await fillOperatorScreens(world);
        const screens = (await page.evaluate(() => (globalThis as any).ferryScreens())) as Listed[];
        const shown = screens.filter(({ audience }) => (audiences as readonly string[]).includes(audience));
        expect(shown.length).toBeGreaterThan(0);
        for (const { id, path } of shown) {
          if (path === undefined) continue;
          await page.goto(`${world.service.url}/console${path}`);
          await page.locator('main h1').waitFor();
          await page.waitForLoadState('networkidle');
          await expectAccessible();
          const overflow = await page.evaluate(() => {
            const { documentElement: root } = (globalThis as any).document;
            return root.scrollWidth - root.clientWidth;
          });
          expect([id, overflow]).toEqual([id, 0]);
          if (PICTURES === undefined) continue;
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({ path: join(PICTURES, `${id}-${look}.png`) });
        }
        expect(complaints).toEqual([]);
        await close();
      });

  /** Something to look at. */
  async function fill(
    request: { post(url: string, options: object): Promise<unknown> },
    { service, customerId, profileId }: ConsoleService,
  ): Promise<void> {
    const to = await service.createProfile({ id: customerId } as never);
    for (const [asset, amount] of [
      ['USD', '1250'],
      ['USD', '18.75'],
      ['BTC', '0.00420001'],
      ['BTC', '2.5'],
      ['USD', '64000.1'],
    ])
      await request.post(`${service.url}/v2/transfer/platform`, {
        headers: { origin: service.url },
        data: { from_profile_id: profileId, to_profile_id: to, asset, amount },
      });
  }
});
