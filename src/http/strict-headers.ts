import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { invalidField, Problem } from '../kernel/problem.ts';

/** Headers that decide who is asked and who asks: Node keeps the first one, a proxy in front may use the last one. */
const SINGLE = new Set(['host', 'authorization', 'content-type', 'idempotency-key']);
const LENGTHS = new Set([...SINGLE].map((name) => name.length));

function repeatedHeader({ rawHeaders }: IncomingMessage): string | undefined {
  let seen: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at]!;
    // Nearly all other headers are recognized by their length, without making a lower-case copy.
    if (!LENGTHS.has(raw.length)) continue;
    const name = raw.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name)) return name;
    seen ??= [];
    seen.push(name);
  }
  return undefined;
}

const JSON_UTF8 = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?(;\s*)?$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** What is wrong with the headers of a request, before anybody looks at the rest of it. */
export function headersFault(raw: IncomingMessage): Problem | undefined {
  if (raw.headers.host === undefined && raw.httpVersion !== '1.0')
    return invalidField('/headers/host', 'is required');
  const repeated = repeatedHeader(raw);
  if (repeated !== undefined) return invalidField(`/headers/${repeated}`, 'must not be sent more than once');
  const { 'content-encoding': encoding, 'content-type': type } = raw.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return new Problem(
      'unsupported-media-type',
      'The body must not be compressed: send it without the header content-encoding.',
      { accept_encoding: 'identity' },
    );
  if (type === undefined || type === 'application/json' || JSON_UTF8.test(type)) return undefined;
  const charset = CHARSET.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    return invalidField('/headers/content-type', 'must have the charset utf-8, or none');
  return undefined;
}

/** A structured field string (`"…"`), as the draft has it, or the bare text, as most clients send it. */
function keyOf(header: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  return quoted === undefined ? header : quoted.replaceAll(/\\(["\\])/g, '$1');
}

/**
 * For operations with a `ref_id`: an Idempotency-Key header counts as the `ref_id` of a body that has none. Two different ones
 * are refused, because a client would believe in one of them.
 */
export function applyIdempotencyKey(request: FastifyRequest): void {
  const header = request.headers['idempotency-key'];
  const { body } = request;
  if (typeof header !== 'string' || body === null || typeof body !== 'object') return;
  const key = keyOf(header);
  const { ref_id: refId } = body as { ref_id?: unknown };
  if (refId === undefined) (body as { ref_id?: unknown }).ref_id = key;
  else if (refId !== key) throw invalidField('/ref_id', 'must be the same as the Idempotency-Key header');
}
