import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Names of programs that are Chromium. npm does not install it; `.ci/run` takes that of Debian. */
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** The path of an installed Chromium; undefined if there is none. */
export const CHROMIUM: string | undefined = PROGRAMS.map((name) =>
  spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim(),
).find((path) => path !== undefined && path !== '');

/** The sandbox of the browser needs rights that containers and root do not have; the pages here are our own. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

export type Person = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Whether the person confirms with a fingerprint when the device asks. */
  confirms(does: boolean): Promise<void>;
  /** How many passkeys the device holds. */
  passkeys(): Promise<number>;
  /** Messages of the console: violations of the content security policy are among them. */
  readonly complaints: string[];
};

/** A person at a device of their own, with an authenticator of the browser's own making. */
export async function newPerson(browser: Browser): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const protocol = await context.newCDPSession(page);
  await protocol.send('WebAuthn.enable');
  const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    context,
    page,
    complaints,
    confirms: (does) =>
      protocol.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: does }) as Promise<never>,
    async passkeys() {
      const { credentials } = await protocol.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials.length;
    },
  };
}
