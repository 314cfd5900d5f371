import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An account at the provider: what its tokens say about the person. */
export type Account = { email: string; email_verified: boolean };

export type TestProvider = {
  readonly issuer: string;
  /** By the name that is typed into the form. */
  readonly accounts: Map<string, Account>;
  /** The addresses to which the provider may send browsers. */
  allow(redirectUri: string): void;
  close(): Promise<void>;
};

export const CLIENT = { client_id: 'ferry', client_secret: 'a-secret-of-the-provider-0123456789' };

/** An independent OpenID provider: `oidc-provider` from npm, with its own pages to sign in. */
export async function startProvider(): Promise<TestProvider> {
  const accounts = new Map<string, Account>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The package has no types.
  const name: string = 'oidc-provider';
  const { Provider } = await import(name);
  const redirectUris: string[] = ['http://localhost/unused'];
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: redirectUris, grant_types: ['authorization_code'] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    ttl: {
      Interaction: 600,
      Session: 600,
      Grant: 600,
      AccessToken: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    cookies: { keys: ['for-this-test-only'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts.get(id) }),
    }),
  });
  const ofClient = provider.Client;
  const find = ofClient.find.bind(ofClient);
  ofClient.find = async (id: string) => {
    const client = await find(id);
    if (client !== undefined) client.redirectUris = redirectUris;
    return client;
  };
  server.on('request', provider.callback());
  return {
    issuer,
    accounts,
    allow: (redirectUri) => void redirectUris.push(redirectUri),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser at the provider: follows its pages and signs in there as that account. Returns where it is sent back to. */
export async function signInThere(start: string, account: string, back: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body }),
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(one)!;
      cookies.set(name!, value!);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    if (location !== null) {
      url = new URL(location, url).href;
      body = undefined;
      if (url.startsWith(back)) return url;
      continue;
    }
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined)
      throw new Error(`the provider shows no form: ${response.status} ${page.slice(0, 500)}`);
    const prompt = /name="prompt" value="(\w+)"/.exec(page)![1]!;
    body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: account, password: 'any' }) });
    url = new URL(action, url).href;
  }
  throw new Error('the provider has not sent the browser back');
}
