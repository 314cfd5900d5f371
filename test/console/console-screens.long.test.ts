import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { fillCustomer } from './customer-data.ts';
import { fillOperatorScreens } from './operator-world.ts';
import { enter, newVisitor } from './visitor-browser.ts';

/** `npm run console:screens` sets it: pictures of every screen are left there. */
const { FERRY_CONSOLE_SCREENS: PICTURES } = process.env;

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
};

/** The other two only in pictures and long runs: every one opens every screen. */
const shownLooks = Object.entries(LOOKS).filter(
  ([look]) => look === 'light' || PICTURES !== undefined || process.env.FERRY_TEST_LONG === '1',
);

type Listed = { id: string; path?: string };

describe.runIf(CHROMIUM !== undefined)('every screen', () => {
  let browser: Browser;
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService({ FERRY_WORKERS: 'on' });
    await fillCustomer(world);
    await fillOperatorScreens(world);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  const people = [
    ['maker', ['customer', 'everyone']],
    ['operator', ['operator', 'everyone']],
  ] as const;

  for (const [person, audiences] of people)
    for (const [look, options] of shownLooks)
      it(`of the ${person} is accessible, complains of nothing, and fits: ${look}`, async () => {
        const { page, complaints, expectAccessible, close } = await newVisitor(browser, options);
        await enter(page, world.service.url, person);
        const shown: Listed[] = await page.evaluate(
          (wanted) => (globalThis as any).ferryScreens(wanted),
          audiences,
        );
        expect(shown.length).toBeGreaterThan(0);
        const faults: string[] = [];
        for (const { id, path } of shown) {
          if (path === undefined) continue;
          await page.goto(`${world.service.url}/console${path}`);
          await page.locator('main h1').waitFor();
          // Not for an idle network: views that follow something always wait for an answer.
          await page.waitForFunction(
            () => (globalThis as any).document.querySelector('.animate-pulse') === null,
          );
          await expectAccessible().catch((error: { actual?: unknown }) =>
            faults.push(`${id}: ${JSON.stringify(error.actual)}`),
          );
          const overflow = await page.evaluate(() => {
            const { documentElement: root } = (globalThis as any).document;
            return root.scrollWidth - root.clientWidth;
          });
          if (overflow !== 0) faults.push(`${id} is ${overflow} pixels too wide`);
          if (PICTURES === undefined) continue;
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({ path: join(PICTURES, `${id}-${look}.png`) });
        }
        expect([...faults, ...complaints]).toEqual([]);
        await close();
      });
});
