import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openChromium } from '../people/chromium.ts';
import { type ConsoleService, insertTransfers, startConsoleService } from './console-service.ts';
import { enter, newVisitor } from './visitor-browser.ts';

const ROWS = Number(process.env.FERRY_CONSOLE_ROWS ?? 100_000);
/** Pixels per frame: 4,000 replace all rows of the window several times over, as somebody does who drags the scroll bar. */
const STEP_PX = Number(process.env.FERRY_CONSOLE_STEP_PX ?? 4_000);
/** On a machine that does nothing else, no task of the page may be longer. Elsewhere the figure is only printed. */
const { FERRY_CONSOLE_STUTTER_MS: STUTTER_MS } = process.env;

describe.runIf(CHROMIUM !== undefined)('a list of very many transfers', () => {
  let browser: Browser;
  let world: ConsoleService;
  beforeAll(async () => {
    world = await startConsoleService();
    await insertTransfers(world, ROWS);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    // The transfers were never posted.
    await world?.service.stop([]);
  });

  it('does not say how many rows it has before the first page is there', async () => {
    const { page, close } = await newVisitor(browser);
    const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>();
    await page.route(/\/v2\/transfer\/transfers\?/, async (route) => {
      await arrival;
      await route.continue();
    });
    await enter(page, world.service.url, 'viewer', '/transfers');
    const table = page.getByRole('table', { name: 'Transfers' });
    await table.waitFor();
    expect(await table.getAttribute('aria-rowcount')).toBe('-1');
    expect(await table.getByRole('cell').count()).toBe(0);
    arrive();
    await table.getByRole('cell').first().waitFor();
    await close();
  });

  it('has its rows in order, and the focus on the row that had it, however far one scrolls', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    await enter(page, world.service.url, 'viewer', '/transfers');
    const rows = page.getByRole('table', { name: 'Transfers' }).locator('[role=row][aria-rowindex]');
    const link = (row: number) => page.locator(`[aria-rowindex="${row}"] a`);
    const scrollTo = (px: number) =>
      page.evaluate((top) => {
        (globalThis as any).document.querySelector('[role=table]').parentElement.scrollTop = top;
      }, px);
    const indexes = async () =>
      (await rows.evaluateAll((all) => all.map((one: any) => Number(one.ariaRowIndex)))).slice(1);
    const focused = () =>
      page.evaluate(() => {
        const { activeElement } = (globalThis as any).document;
        return (
          activeElement.closest('[aria-rowindex]')?.ariaRowIndex ?? activeElement.firstElementChild?.role
        );
      });
    const inOrder = (all: number[]) => all.map((_, place) => all[0]! + place);

    await link(12).focus();
    // A few rows down and up: elements are added and removed. A screen further: all show other rows.
    for (const [top, first] of [
      [240, 4],
      [80, 2],
      [320, 6],
    ] as const) {
      await scrollTo(top);
      await expect.poll(async () => (await indexes())[0]).toBe(first);
      expect(await indexes()).toEqual(inOrder(await indexes()));
      expect(await focused()).toBe('12');
    }
    await scrollTo(2_000);
    await expect.poll(async () => (await indexes())[0]).toBe(48);
    expect(await indexes()).toEqual(inOrder(await indexes()));
    expect(await focused()).toBe('table');

    // Each link leads to its own row.
    const names = await rows.evaluateAll((all) =>
      all.slice(1).map((one: any) => one.querySelector('a').href),
    );
    expect(new Set(names).size).toBe(names.length);
    await link(60).click();
    await page.waitForURL(names[60 - 48]);
    await page
      .getByText(`row ${ROWS - 58}`)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('is scrolled to its end with few rows in the document', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    await enter(page, world.service.url, 'viewer', '/transfers');
    // The first page is there: what is measured is scrolling alone.
    await page.getByRole('table', { name: 'Transfers' }).getByRole('cell').first().waitFor();
    const { longest, long, frames, mostRows, end } = await page.evaluate(async (stepPx) => {
      const { document, requestAnimationFrame, PerformanceObserver } = globalThis as any;
      let [longestTask, longTasks, count] = [0, 0, 0];
      new PerformanceObserver((list: any) => {
        for (const { duration } of list.getEntries()) {
          longTasks += 1;
          longestTask = Math.max(longestTask, duration);
        }
      }).observe({ type: 'longtask' });
      const table = document.querySelector('[role=table]');
      const scroller = table.parentElement;
      let most = 0;
      // Until the list says how long it is: then everything was read.
      while (
        table.getAttribute('aria-rowcount') === '-1' ||
        scroller.scrollTop + scroller.clientHeight + 80 < scroller.scrollHeight
      ) {
        scroller.scrollTop += stepPx;
        count += 1;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        most = Math.max(most, document.querySelectorAll('[role=row]').length);
      }
      return {
        longest: longestTask,
        long: longTasks,
        frames: count,
        mostRows: most,
        end: Number(table.getAttribute('aria-rowcount')),
      };
    }, STEP_PX);
    expect(end).toBeGreaterThanOrEqual(ROWS + 1);
    expect(mostRows).toBeLessThan(120);
    await page.getByText('row 1', { exact: true }).waitFor();
    console.log(
      `${ROWS} transfers, ${STEP_PX} px per frame: ${long} tasks over 50 ms in ${frames} frames, the longest ${Math.round(longest)} ms`,
    );
    if (STUTTER_MS !== undefined) expect(longest).toBeLessThan(Number(STUTTER_MS));
    expect(complaints).toEqual([]);
    await close();
  });
});
