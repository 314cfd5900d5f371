import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * The pages under /signin. They contain no data: their script asks for it. All addresses in them are relative, because the
 * public URL can have a path.
 */
const HTML = 'text/html; charset=utf-8';

/** No inline code or styles, no frames, no other sites. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export type Page = { readonly title: string; readonly name: string; readonly content: string };

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function htmlOf({ title, name, content }: Page, base: string, extra = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Ferry</title><link rel="icon" href="data:,">${extra}
<link rel="stylesheet" href="${base}style.css"><script type="module" src="${base}app.js"></script></head>
<body data-page="${name}"><main><p class="brand">Ferry</p><h1>${escaped(title)}</h1>
<p id="message" role="status" aria-live="polite"></p>${content}</main></body></html>`;
}

const SIGN_IN: Page = {
  title: 'Sign in',
  name: 'signin',
  content: `<p class="lead">Use a passkey on this device, or a security key.</p>
<div class="stack"><button id="passkey" class="primary" hidden>Sign in with a passkey</button>
<a id="elsewhere" class="button" hidden>Use a passkey at this address</a>
<a id="provider" class="button" href="signin/openid" hidden>Sign in</a></div>
<section id="demo" hidden><h2>Try the sandbox</h2><p>Enter as one of these people. Only the sandbox has them.</p>
<div id="people" class="stack"></div></section>
<details><summary>Use an API client</summary><form id="client">
<label for="client-id">Client id</label><input id="client-id" required autocomplete="username" spellcheck="false">
<label for="client-secret">Client secret</label><input id="client-secret" type="password" required autocomplete="current-password">
<button>Enter the console</button><p class="note">The access token stays with the service. It ends after an hour.</p></form></details>
<p class="note">No passkey yet? Ask an administrator for an enrolment link.</p>`,
};

const ENROL: Page = {
  title: 'Create a passkey',
  name: 'enrol',
  content: `<p class="lead" id="who">Checking your link…</p>
<form id="enrol" hidden><label for="name">Name of this device</label>
<input id="name" maxlength="60" required autocomplete="off" spellcheck="false">
<button class="primary">Create a passkey</button></form>
<p class="note">A passkey replaces a password. It stays on your device or security key; Ferry keeps only its public key.</p>`,
};

const ME: Page = {
  title: 'Your account',
  name: 'me',
  content: `<section id="me" hidden><dl id="facts"></dl>
<div class="row"><button id="out">Sign out</button><button id="step-up">Confirm that it is you</button></div></section>
<section id="passkeys" hidden><h2>Passkeys</h2><ul class="cards"></ul>
<form id="add"><label for="name">Name of the device</label><div class="row"><input id="name" maxlength="60" required autocomplete="off" spellcheck="false">
<button>Add a passkey</button></div></form></section>
<section id="sessions" hidden><h2>Where you are signed in</h2><ul class="cards"></ul></section>`,
};

/** A page that is not one of the three: the end of a sign-in at the provider. With `next`, it goes on there by itself. */
export function messagePage(title: string, message: string, next?: string): string {
  const link = next === undefined ? '<a class="button" href="../../signin">Back to the sign-in</a>' : '';
  const content = `<p class="lead">${escaped(message)}</p>${link}`;
  const refresh = next === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${next}">`;
  return htmlOf({ title, name: 'message', content }, '../', refresh);
}

export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type(HTML).header('content-security-policy', POLICY).send(html);
}

const FILES = {
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
} as const;

export function registerPages(app: FastifyInstance): void {
  const pages = {
    '/signin': [SIGN_IN, 'signin/'],
    '/signin/enrol': [ENROL, ''],
    '/signin/me': [ME, ''],
  } as const;
  for (const [url, [page, base]] of Object.entries(pages)) {
    const html = htmlOf(page, base);
    app.get(url, async (_request, reply) => sendPage(reply, html));
  }
  for (const [name, type] of Object.entries(FILES)) {
    let content: string | undefined;
    app.get(`/signin/${name}`, async (_request, reply) => {
      content ??= readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8');
      return reply.type(type).header('cache-control', 'no-cache').send(content);
    });
  }
}
