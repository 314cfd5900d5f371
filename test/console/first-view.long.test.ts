import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { enter, newVisitor } from './visitor-browser.ts';

/** On a machine that does nothing else, the first view must be there by then. Elsewhere the figure is only printed. */
const { FERRY_CONSOLE_FIRST_VIEW_MS: FIRST_VIEW_MS } = process.env;
const BYTES_MAX = 200_000;

describe.runIf(CHROMIUM !== undefined)('the first view', () => {
  let browser: Browser;
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService();
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.service.stop();
  });

  it('of a browser that has nothing in its cache is small and there at once', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    await enter(page, world.service.url, 'viewer', '/overview');
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.goto(`${world.service.url}/console/overview`);
    // Content, not its placeholders: the balances are there.
    const shown = await page.waitForFunction(() => {
      const { document, performance } = globalThis as any;
      return document.querySelector('main')?.textContent.includes('100,000') ? performance.now() : undefined;
    });
    const shownMs = (await shown.jsonValue()) as number;
    const bytes = await page.evaluate(() => {
      const { performance } = globalThis as any;
      const loaded = [
        ...performance.getEntriesByType('navigation'),
        ...performance.getEntriesByType('resource'),
      ];
      return loaded.reduce((sum: number, one: any) => sum + one.encodedBodySize, 0) as number;
    });
    console.log(`the first view: ${bytes} bytes, compressed; content after ${Math.round(shownMs)} ms`);
    expect(bytes).toBeLessThan(BYTES_MAX);
    if (FIRST_VIEW_MS !== undefined) expect(shownMs).toBeLessThan(Number(FIRST_VIEW_MS));
    expect(complaints).toEqual([]);
    await close();
  });
});
