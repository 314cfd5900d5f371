import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { PROBLEMS, Problem, type ProblemSlug } from '../kernel/problem.ts';
import { registerGuides } from './guides.ts';
import { type DocumentOptions, openApiDocument } from './openapi.ts';
import type { ReferenceParts } from './reference-worker.ts';
import { createStaticContent, lazily, type StaticContent, sendStatic } from './static.ts';

const HTML = 'text/html; charset=utf-8';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1c1e21;background:#fff}
h1{font-size:1.5rem}code{background:#f0f1f3;padding:.1em .3em;border-radius:3px}td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}
a{color:#0b57d0}@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}code{background:#2a2d33}a{color:#8ab4f8}}`;

/** An empty icon: without one, browsers request /favicon.ico and get a 404. */
const ICON = '<link rel="icon" href="data:,">';

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Ferry</title>${ICON}<style>${STYLE}</style></head><body>${content}</body></html>`;
}

const inline = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function problemPage(slug: ProblemSlug): string {
  const { status, title, help } = PROBLEMS[slug];
  return page(
    title,
    `<p><a href="../problems">All problems</a></p><h1>${title}</h1><p><code>${slug}</code>, status ${status}</p><p>${inline(help)}</p>`,
  );
}

function problemIndex(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([slug, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="problems/${slug}"><code>${slug}</code></a></td><td>${title}</td></tr>`,
  );
  return page('Problems', `<h1>Problems</h1><table>${rows.join('')}</table>`);
}

type Reference = { readonly page: StaticContent; readonly script: StaticContent };

/** Created on first use: most services never show it. */
async function createReference(): Promise<Reference> {
  const worker = new Worker(new URL('reference-worker.ts', import.meta.url));
  try {
    const [made] = (await once(worker, 'message')) as [ReferenceParts];
    return {
      page: createStaticContent(HTML, made.page.replace('</head>', `${ICON}</head>`)),
      script: createStaticContent('application/javascript; charset=utf-8', Buffer.from(made.script.buffer)),
    };
  } finally {
    await worker.terminate();
  }
}

type Pages = {
  readonly openApi: () => Promise<StaticContent>;
  readonly reference: () => Promise<Reference>;
  readonly index: () => Promise<StaticContent>;
  readonly bySlug: ReadonlyMap<string, () => Promise<StaticContent>>;
};

/** Everything is made when it is first requested: the public URL is final only once the server listens. */
function createPages(options: DocumentationOptions): Pages {
  const slugs = Object.keys(PROBLEMS) as ProblemSlug[];
  return {
    openApi: lazily(async () => {
      const document = JSON.stringify(openApiDocument(options, options.publicUrl()));
      return createStaticContent('application/json; charset=utf-8', document);
    }),
    reference: lazily(createReference),
    index: lazily(async () => createStaticContent(HTML, problemIndex())),
    bySlug: new Map(
      slugs.map((slug) => [slug, lazily(async () => createStaticContent(HTML, problemPage(slug)))] as const),
    ),
  };
}

export type DocumentationOptions = DocumentOptions & {
  /** Without it, all these pages are answered with a 404. */
  readonly isOn: boolean;
  /** Other JSON documents, by their path. */
  readonly documents?: Readonly<Record<string, () => Promise<object>>>;
  publicUrl(): string;
};

/** `/openapi.json`, the readable reference at `/docs`, the guides under `/docs/guides`, and a page for every problem. All of it works offline. */
export function documentationExtension(options: DocumentationOptions): (app: FastifyInstance) => void {
  return (app) => {
    if (!options.isOn) return;
    const pages = createPages(options);
    app.get('/openapi.json', async (request, reply) => sendStatic(request, reply, await pages.openApi()));
    // The page refers to its script and to the document relative to this path.
    app.get('/docs', async (_request, reply) => reply.redirect('docs/', 301));
    app.get('/docs/', async (request, reply) => sendStatic(request, reply, (await pages.reference()).page));
    app.get('/docs/js/scalar.js', async (request, reply) =>
      sendStatic(request, reply, (await pages.reference()).script),
    );
    for (const [path, load] of Object.entries(options.documents ?? {})) {
      const content = lazily(async () =>
        createStaticContent('application/json; charset=utf-8', JSON.stringify(await load())),
      );
      app.get(path, async (request, reply) => sendStatic(request, reply, await content()));
    }
    registerGuides(app, options.publicUrl);
    app.get('/problems', async (request, reply) => sendStatic(request, reply, await pages.index()));
    app.get('/problems/:slug', async (request, reply) => {
      const { slug } = request.params as { slug: string };
      const made = pages.bySlug.get(slug);
      if (made === undefined) {
        throw new Problem('not-found', `There is no problem type ${slug}.`, {
          resource: 'problem',
          id: slug,
        });
      }
      return sendStatic(request, reply, await made());
    });
  };
}
