import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { escapeHtml, type MarkdownOptions, renderMarkdown } from './markdown.ts';
import { createStaticContent, lazily, type StaticContent, sendStatic } from './static.ts';

/** The guides under docs/, as pages under /docs/guides. Addresses are relative, because the public URL can have a path. */
const ROOT = new URL('../../', import.meta.url);

/** Other texts that the guides lead to, by their place in the repository. */
const OTHERS: Readonly<Record<string, string>> = {
  'docs/README.md': '',
  'README.md': 'readme',
  'ARCHITECTURE.md': 'architecture',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'SECURITY.md': 'security',
  'packages/client/README.md': 'client',
  'console/README.md': 'console',
};

/** Where the examples of the guides find the service. */
const EXAMPLE_URLS = /http:\/\/(?:127\.0\.0\.1|localhost):8080/g;

/** By the name under which it is served, the place of every guide. */
function findGuides(): ReadonlyMap<string, string> {
  const inFolder = (folder: string, prefix: string): [string, string][] =>
    readdirSync(new URL(folder, ROOT))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => [`${prefix}${name.slice(0, -'.md'.length)}`, `${folder}${name}`]);
  const others = Object.entries(OTHERS)
    .filter(([path]) => existsSync(new URL(path, ROOT)))
    .map(([path, name]): [string, string] => [name, path]);
  return new Map([...others, ...inFolder('docs/', ''), ...inFolder('docs/decisions/', 'decisions/')]);
}

type Guides = { readonly byName: ReadonlyMap<string, string>; readonly byPath: ReadonlyMap<string, string> };

const DECISIONS = 'docs/decisions';

/** From the page of one guide to what it links to. */
function linkFrom({ byPath }: Guides, path: string, base: string): MarkdownOptions['linkTo'] {
  return (target) => {
    if (/^https?:/.test(target) || target.startsWith('#')) return target;
    const [file = '', fragment] = target.split('#');
    const found = posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '');
    const name = found === DECISIONS ? 'decisions' : byPath.get(found);
    if (name === undefined) return undefined;
    return `${base}${name === '' ? './' : name}${fragment === undefined ? '' : `#${fragment}`}`;
  };
}

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** The decisions have no list of their own: their titles are one. */
const listOfDecisions = ({ byPath }: Guides): string =>
  `# Decisions\n\n${[...byPath.keys()]
    .filter((path) => path.startsWith(`${DECISIONS}/`))
    .sort()
    .map((path) => `- [${/^# (.*)$/m.exec(read(path))?.[1] ?? path}](decisions/${posix.basename(path)})`)
    .join('\n')}\n`;

function pageOf(guides: Guides, name: string, publicUrl: string): string {
  const path = name === 'decisions' ? 'docs/decisions.md' : guides.byName.get(name)!;
  const base = '../'.repeat(name.split('/').length - 1);
  const text = name === 'decisions' ? listOfDecisions(guides) : read(path);
  const here = publicUrl.replace(/\/+$/, '');
  const { html, title, headings } = renderMarkdown(text, {
    linkTo: linkFrom(guides, path, base),
    code: (code) => code.replaceAll(EXAMPLE_URLS, here),
  });
  const index = renderMarkdown(read('docs/README.md'), { linkTo: linkFrom(guides, 'docs/README.md', base) });
  const chapters = headings.filter(({ level }) => level === 2);
  const contents = chapters
    .map((one) => `<li><a href="#${escapeHtml(one.id)}">${escapeHtml(one.text)}</a></li>`)
    .join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)} · Ferry</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${base}guides.css">
<script type="module" src="${base}guides.js"></script></head><body data-ferry="${escapeHtml(here)}">
<a class="skip" href="#guide">Skip to the guide</a>
<header><a class="brand" href="${base}../../">Ferry</a><nav aria-label="Ferry"><a href="${base}./">Guides</a>
<a href="${base}../">API reference</a><a href="${base}../../console">Console</a></nav></header>
<div class="columns"><details class="index"><summary>All guides</summary><nav aria-label="Guides">${index.html.replace(/<h1.*?<\/h1>/s, '')}</nav></details>
<main id="guide"><p id="yours" role="status" hidden></p>${html}</main>
${chapters.length > 1 ? `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents}</ul></nav>` : ''}</div></body></html>`;
}

const FILES = {
  'guides.css': 'text/css; charset=utf-8',
  'guides.js': 'text/javascript; charset=utf-8',
} as const;

export function registerGuides(app: FastifyInstance, publicUrl: () => string): void {
  const guides = lazily(async (): Promise<Guides> => {
    const byName = findGuides();
    return { byName, byPath: new Map([...byName].map(([name, path]) => [path, name])) };
  });
  const made = new Map<string, () => Promise<StaticContent>>();
  async function guide(name: string): Promise<StaticContent> {
    const found = await guides();
    if (name !== 'decisions' && !found.byName.has(name))
      throw new Problem('not-found', `There is no guide ${name.slice(0, 200)}; see /docs/guides.`, {
        resource: 'guide',
        id: name.slice(0, 200),
      });
    const known =
      made.get(name) ??
      lazily(async () => createStaticContent('text/html; charset=utf-8', pageOf(found, name, publicUrl())));
    made.set(name, known);
    return known();
  }
  for (const [name, type] of Object.entries(FILES)) {
    const file = lazily(async () =>
      createStaticContent(type, readFileSync(new URL(`pages/${name}`, import.meta.url), 'utf8')),
    );
    app.get(`/docs/guides/${name}`, async (request, reply) => sendStatic(request, reply, await file()));
  }
  app.get('/docs/guides', async (_request, reply) => reply.redirect('guides/', 301));
  app.get('/docs/guides/', async (request, reply) => sendStatic(request, reply, await guide('')));
  app.get('/docs/guides/:name', async (request, reply) =>
    sendStatic(request, reply, await guide((request.params as { name: string }).name)),
  );
  app.get('/docs/guides/decisions/:name', async (request, reply) =>
    sendStatic(request, reply, await guide(`decisions/${(request.params as { name: string }).name}`)),
  );
}
