import type { FastifyInstance } from 'fastify';

/** What runs here: a page for people, JSON for machines. */
export type LandingOptions = {
  readonly version: string;
  readonly mode: string;
  readonly hasDocs: boolean;
  readonly networks: readonly string[];
  /** Configured ones; the sandbox simulates the rest. */
  readonly rails: readonly string[];
  isReady(): boolean;
  publicUrl(): string;
};

/** Uses the style sheet of the sign-in pages. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Link = { readonly to: string; readonly name: string; readonly about: string };

function linksOf({ hasDocs }: LandingOptions): Link[] {
  const docs = [
    { to: 'docs/guides/', name: 'Guides', about: 'from the first transfer to production' },
    { to: 'docs/', name: 'API reference', about: 'every operation, with examples to try' },
    { to: 'problems', name: 'Problems', about: 'every error, and what to do about it' },
    { to: 'openapi.json', name: 'OpenAPI document', about: 'for generated clients' },
  ];
  return [
    { to: 'console', name: 'Console', about: 'see and steer the money' },
    { to: 'signin', name: 'Sign in', about: 'with a passkey, or at your provider' },
    ...(hasDocs ? docs : []),
  ];
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function pageOf(options: LandingOptions): string {
  const { version, mode, networks, rails } = options;
  const simulated = mode === 'sandbox' ? 'simulated, except configured ones' : 'none';
  const facts = {
    Status: options.isReady() ? 'Ready' : 'Not ready: starting, stopping, or without its database',
    Mode: mode === 'sandbox' ? 'Sandbox: no real money moves' : 'Production',
    Version: version,
    Networks: networks.join(', '),
    Rails: rails.length === 0 ? simulated : rails.join(', '),
  };
  const list = Object.entries(facts).map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`);
  const links = linksOf(options).map(
    ({ to, name, about }) => `<li><div><a href="${to}">${name}</a><small>${about}</small></div></li>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Ferry</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="signin/style.css"></head><body><main>
<p class="brand">Ferry</p><h1>Ferry is running</h1>
<p class="lead">It moves value between profiles, out to banks and blockchains, and between parties who settle.</p>
<ul class="cards">${links.join('')}</ul><h2>What runs here</h2><dl>${list.join('')}</dl></main></body></html>`;
}

function jsonOf(options: LandingOptions): object {
  const { version, mode, networks, rails } = options;
  const base = options.publicUrl().replace(/\/+$/, '');
  return {
    name: 'ferry',
    version,
    mode,
    ready: options.isReady(),
    networks,
    rails,
    links: Object.fromEntries(
      linksOf(options).map(({ to, name }) => [name.toLowerCase().replaceAll(' ', '_'), `${base}/${to}`]),
    ),
  };
}

export function landingExtension(options: LandingOptions): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/', async (request, reply) => {
      reply.headers({ vary: 'accept', 'cache-control': 'no-cache' });
      if (!/\btext\/html\b/.test(request.headers.accept ?? '')) return jsonOf(options);
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', POLICY)
        .send(pageOf(options));
    });
  };
}
