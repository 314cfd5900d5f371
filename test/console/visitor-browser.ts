import { readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A person at a browser of their own, who is signed in to the console. */
export type Visitor = {
  readonly page: Page;
  /** Errors of the console, uncaught ones, and violations of the content security policy. */
  readonly complaints: string[];
  /** Fails if axe finds anything on the page. */
  expectAccessible(): Promise<void>;
  close(): Promise<void>;
};

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] };

async function violationsOf(page: Page): Promise<string[]> {
  // Through the debugger: the policy of the page allows no script of others.
  await page.evaluate(AXE);
  const found = await page.evaluate(
    async (tags) =>
      (
        await (globalThis as any).axe.run((globalThis as any).document, {
          runOnly: { type: 'tag', values: tags },
        })
      ).violations,
    TAGS,
  );
  return (found as Violation[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Answers of these kinds are logged as errors by the browser although the console expects them. */
const EXPECTED = /status of (401|404|502|503)|ERR_CONNECTION_REFUSED/;

const PATIENCE_MS = 120_000;

export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  // Only ends what hangs: a machine that does other things as well may be ten times slower.
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text()))
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return {
    page,
    complaints,
    expectAccessible: async () => expect(await violationsOf(page)).toEqual([]),
    close: () => context.close(),
  };
}

/** Opens a view of the console; the sign-in comes first, with one click, and leads back to it. */
export async function enter(page: Page, url: string, as: string, path = ''): Promise<void> {
  await page.goto(`${url}/console${path}`);
  await page.locator(`button[data-as="${as}"]`).click();
  await page.waitForURL(/\/console/);
  await page.locator('main h1').waitFor();
}

/** A proxy that serves the service under a path of its own, and removes it from requests. */
export async function startProxy(
  prefix: string,
  target: () => string,
): Promise<{ url: string; close(): void }> {
  const server: Server = createServer((incoming, answer) => {
    if (incoming.url?.startsWith(`${prefix}/`) !== true && incoming.url !== prefix) {
      answer.writeHead(404).end('not of the service');
      return;
    }
    const outgoing = request(
      target() + (incoming.url.slice(prefix.length) || '/'),
      { method: incoming.method, headers: incoming.headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    outgoing.on('error', () => {
      if (!answer.headersSent) answer.writeHead(502);
      answer.end();
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
