/**
 * Makes the page and the script of the API reference. Runs as a worker thread that ends afterwards: the package takes 0.2 s
 * to load and 40 MB, which requests must not wait for and the service must not keep.
 */
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import Fastify from 'fastify';

export type ReferenceParts = { readonly page: string; readonly script: Uint8Array<ArrayBuffer> };

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
