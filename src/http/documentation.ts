import Fastify, { type FastifyInstance } from 'fastify';
import { PROBLEMS, Problem, type ProblemSlug } from '../kernel/problem.ts';
import { type DocumentOptions, openApiDocument } from './openapi.ts';

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

/** The reference page, created on first use: its script has four megabytes. */
async function createReference(): Promise<FastifyInstance> {
  const reference = Fastify();
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  await reference.register(plugin, {
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
  return reference;
}

/** `/openapi.json`, the readable reference at `/docs`, and a page for every problem. All of it works offline. */
export function documentationExtension(
  options: DocumentOptions & { publicUrl(): string },
): (app: FastifyInstance) => void {
  return (app) => {
    let document: string | undefined;
    let reference: Promise<FastifyInstance> | undefined;
    app.get('/openapi.json', async (_request, reply) => {
      document ??= JSON.stringify(openApiDocument(options, options.publicUrl()));
      return reply.type('application/json; charset=utf-8').send(document);
    });
    for (const url of ['/docs', '/docs/', '/docs/js/scalar.js']) {
      app.get(url, async (request, reply) => {
        // A failure is not kept: the next request tries again.
        reference ??= createReference().catch((error: unknown) => {
          reference = undefined;
          throw error;
        });
        const answer = await (await reference).inject({ method: 'GET', url: request.url });
        const type = answer.headers['content-type'] ?? 'text/html';
        reply.code(answer.statusCode).type(type);
        if (answer.headers.location !== undefined) reply.header('location', answer.headers.location);
        const isPage = type.startsWith('text/html');
        return reply.send(isPage ? answer.payload.replace('</head>', `${ICON}</head>`) : answer.payload);
      });
    }
    app.get('/problems', async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(problemIndex()),
    );
    app.get('/problems/:slug', async (request, reply) => {
      const { slug } = request.params as { slug: string };
      if (!Object.hasOwn(PROBLEMS, slug)) {
        throw new Problem('not-found', `There is no problem type ${slug}.`, {
          resource: 'problem',
          id: slug,
        });
      }
      return reply.type('text/html; charset=utf-8').send(problemPage(slug as ProblemSlug));
    });
  };
}
