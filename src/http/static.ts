import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LIMITS } from '../limits.ts';

/** Content that never changes while the process runs, made once. Its buffers are sent without a copy. */
export type StaticContent = {
  readonly type: string;
  /** What a page may load and run; undefined for content that is not a page. */
  readonly policy: string | undefined;
  /** How long browsers keep it; unless given, for `staticCacheSeconds`. */
  readonly cacheControl?: string;
  /** Each is compressed once, when a client first asks for it: most content is only ever sent in one encoding. */
  readonly variants: Readonly<Record<Encoding, () => Promise<Variant>>>;
};

type Encoding = 'br' | 'gzip' | 'identity';
export type Variant = { readonly body: Buffer; readonly etag: string };

/** Within 15% of the best quality in a hundredth of its time: 0.1 s for the script of the reference, on another thread. */
const BROTLI_QUALITY = 6;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

export function createStaticContent(type: string, content: string | Buffer): StaticContent {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  // Each encoding has an ETag of its own: a cache must not take one for the other (RFC 9110 section 8.8.3.3).
  return {
    type,
    policy: type.startsWith('text/html') ? policyOf(body.toString('utf8')) : undefined,
    variants: {
      br: lazily(async () => ({ body: await compressBrotli(body, { params }), etag: `"${digest}-br"` })),
      gzip: lazily(async () => ({ body: await compressGzip(body), etag: `"${digest}-gzip"` })),
      identity: async () => ({ body, etag: `"${digest}"` }),
    },
  };
}

/**
 * A page runs its own script files, and exactly the inline scripts that it was made with. Styles are inline as well. It talks to
 * this service only, and nobody can frame it.
 */
function policyOf(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  );
  return [
    "default-src 'self'",
    `script-src ${["'self'", ...inline].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Makes a value when it is first needed. A failure is not kept: the next caller tries again. */
export function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** The weight that a client gives to an encoding (RFC 9110 section 12.5.3); zero if it does not accept it. */
function weightOf(encoding: string, accepted: ReadonlyMap<string, number>): number {
  return accepted.get(encoding) ?? accepted.get('*') ?? 0;
}

export function chooseEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity';
  const accepted = new Map(
    header.split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight) || 0] as const;
    }),
  );
  const [br, gz] = [weightOf('br', accepted), weightOf('gzip', accepted)];
  if (br > 0 && br >= gz) return 'br';
  return gz > 0 ? 'gzip' : 'identity';
}

/** Compares as RFC 9110 section 13.1.2 requires: proxies that compress mark an ETag as weak. */
function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag);
}

/** In pieces: a piece is handed to the socket when the client has read enough of those before it. */
function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += LIMITS.staticPieceBytes)
    yield body.subarray(from, from + LIMITS.staticPieceBytes);
}

export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  content: StaticContent,
): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  const { body, etag } = await content.variants[encoding]();
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': content.cacheControl ?? `public, max-age=${LIMITS.staticCacheSeconds}`,
  });
  if (content.policy !== undefined) reply.header('content-security-policy', content.policy);
  if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.type(content.type).header('content-length', body.length);
  return reply.send(body.length <= LIMITS.staticPieceBytes ? body : Readable.from(piecesOf(body)));
}
