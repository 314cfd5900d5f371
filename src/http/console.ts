import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { Problem, unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { type ConsoleFiles, loadConsole } from './console-files.ts';
import { createStaticContent, lazily, type StaticContent, sendStatic } from './static.ts';

const HTML = 'text/html; charset=utf-8';

/** No inline code or styles, no frames, no other sites. The icon is empty data. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export type ConsoleOptions = {
  publicUrl(): string;
  readonly mode: string;
  readonly logger: Pick<Logger, 'error'>;
};

/** The path of the public URL, without a slash at the end: what a proxy in front of the service has removed. */
const pathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/+$/, '');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** One build for every path: the addresses of its files, and the base that its script uses, are written into the page. */
function indexOf({ index }: ConsoleFiles, path: string, mode: string): StaticContent {
  const page = index
    .replaceAll('"./assets/', `"${escaped(path)}/console/assets/`)
    .replace('name="ferry-base" content=""', `name="ferry-base" content="${escaped(path)}"`)
    .replace('name="ferry-mode" content=""', `name="ferry-mode" content="${escaped(mode)}"`);
  return { ...createStaticContent(HTML, page), policy: POLICY, cacheControl: 'no-cache' };
}

const WAITING = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Ferry</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="BASE/signin/style.css"></head><body><main><p class="brand">Ferry</p>
<h1>The console is being built</h1><p class="lead">This happens once after an installation, and takes a few seconds. The page opens by itself.</p>
</main></body></html>`;

function sendWaiting(reply: FastifyReply, path: string): FastifyReply {
  return reply
    .code(503)
    .headers({ 'retry-after': '1', 'cache-control': 'no-store', 'content-security-policy': POLICY })
    .type(HTML)
    .send(WAITING.replace('BASE', escaped(path)));
}

/** The console: every path below it that is not a file answers the page, whose script shows the view of that path. */
export function consoleExtension(options: ConsoleOptions): (app: FastifyInstance) => void {
  let loaded: { readonly files: ConsoleFiles; readonly index: StaticContent } | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  const load = lazily(async () => {
    const files = await loadConsole();
    loaded = { files, index: indexOf(files, pathOf(options.publicUrl()), options.mode) };
  });
  const ready = (): typeof loaded => {
    if (performance.now() - failedAtMs < LIMITS.consoleBuildRetryMs)
      throw unavailable(
        'The console could not be built; the log of the service says why. It is built again after a minute.',
        LIMITS.consoleBuildRetryMs / 1_000,
      );
    if (loaded === undefined)
      load().catch((error: unknown) => {
        failedAtMs = performance.now();
        options.logger.error({ err: error }, 'the console could not be built');
      });
    return loaded;
  };
  return (app) => {
    for (const url of ['/console', '/console/', '/console/*'])
      app.get(url, async (request, reply) => {
        const { '*': path = '' } = (request.params ?? {}) as { '*'?: string };
        const built = ready();
        if (built === undefined) return sendWaiting(reply, pathOf(options.publicUrl()));
        if (!path.startsWith('assets/')) return sendStatic(request, reply, built.index);
        const asset = built.files.assets.get(path);
        if (asset === undefined)
          throw new Problem('not-found', `There is no file /console/${path}.`, {
            resource: 'path',
            id: path,
          });
        return sendStatic(request, reply, asset());
      });
  };
}
