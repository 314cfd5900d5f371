/**
 * Makes the page and the script of the API reference. Runs as a worker thread that ends afterwards: the package takes 0.2 s
 * to load and 40 MB, which requests must not wait for and the service must not keep.
 */
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import Fastify from 'fastify';

export type ReferenceParts = { readonly page: string; readonly script: Uint8Array<ArrayBuffer> };

/** Of the page. */
declare const document: { readonly baseURI: string };

/**
 * "Test Request". Written into the page, so it uses nothing from here. A request without a token has the session of the browser; in
 * the sandbox, who has none enters as a person of the demo with the first request.
 */
const customFetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init);
  const { origin, pathname } = new URL(request.url);
  const here = new URL('../', document.baseURI);
  const hasToken = !/^(Bearer)?\s*$/i.test(request.headers.get('authorization') ?? '');
  if (hasToken || origin !== here.origin || !pathname.startsWith(`${here.pathname}v2/`))
    return fetch(request);
  request.headers.delete('authorization');
  const answer = await fetch(request.clone());
  if (answer.status !== 401) return answer;
  const as = pathname.startsWith(`${here.pathname}v2/operator/`) ? 'operator' : 'maker';
  const entered = await fetch(new URL('signin/demo', here), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ as }),
  });
  return entered.ok ? fetch(request) : answer;
};

const app = Fastify();
await app.register(reference, {
  routePrefix: '/docs',
  configuration: {
    url: '../openapi.json',
    pageTitle: 'Ferry API',
    // Everything is served from here: no fonts, telemetry, proxy or assistant of third parties.
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    authentication: { preferredSecurityScheme: 'oauth2' },
    customFetch,
  } as object,
});

async function textOf(url: string): Promise<string> {
  const { statusCode, payload } = await app.inject({ method: 'GET', url });
  if (statusCode !== 200) throw new Error(`the API reference answered ${statusCode} for ${url}`);
  return payload;
}

const parts: ReferenceParts = {
  page: await textOf('/docs/'),
  script: new TextEncoder().encode(await textOf('/docs/js/scalar.js')),
};
// The bytes are handed over, not copied.
parentPort!.postMessage(parts, [parts.script.buffer]);
