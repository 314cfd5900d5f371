import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';
import { requestId } from './request-id.ts';

/**
 * Refuses requests of a connection without the HTTP parser: 15 µs instead of 40, most of them system calls. In an overload
 * there are more refusals than anything else. Used for connections on which the parser has refused a request before.
 *
 * What the parser, or a proxy in front of the service, takes for one request must never be taken for another one here. So
 * a chunk is answered here only if it is exactly one request of the plainest form, and begins where a request begins:
 *
 *                    the parser made exactly the chunk's request of a plain chunk
 *   UNKNOWN PLACE  ────────────────────────────────────────────────────────────────>  BETWEEN TWO REQUESTS
 *                  <────────────────────────────────────────────────────────────────
 *                         the parser got any other chunk, or the overload is over
 */
export type Shortcut = {
  install(socket: Socket): void;
};

export type ShortcutOptions = {
  /** Whether requests are refused at the moment. */
  isShedding(): boolean;
  /** The whole answer, if the request has to be refused. */
  refusalOf(request: {
    readonly socket: Socket;
    readonly method: string;
    readonly requestId: string;
  }): string | undefined;
  /** Whether no request of the connection is in progress. */
  isIdle(socket: Socket): boolean;
  /** Calls back with every request of the connection that the parser has made. */
  monitor(socket: Socket, parsed: (request: IncomingMessage) => void): void;
};

export type PlainRequest = {
  readonly method: string;
  readonly requestId: string | undefined;
  /** From the method to the last header. */
  readonly head: string;
};

const HEAD_END = Buffer.from('\r\n\r\n');
/** The grammar of RFC 9112 without anything optional: no folded lines, no extended characters, no other version. */
const HEAD =
  /^(GET|POST|PUT|PATCH|DELETE) \/(?:v2|docs)\/[!-~]* HTTP\/1\.1(?:\r\n[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e]*)+$/;
/** Headers that decide how long a request is, or what happens after it. */
const DECISIVE =
  /\r\n(content-length|transfer-encoding|expect|upgrade|connection|x-request-id):[\t ]*([^\r]*)/gi;

/** Undefined unless the chunk is exactly one request. */
export function readPlainRequest(chunk: Buffer): PlainRequest | undefined {
  const headEnd = chunk.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = chunk.toString('latin1', 0, headEnd);
  const method = HEAD.exec(head)?.[1];
  if (method === undefined) return undefined;
  let length: number | undefined;
  let id: string | undefined;
  for (const [, name, value] of head.matchAll(DECISIVE)) {
    const field = name!.toLowerCase();
    if (field === 'x-request-id' && id === undefined) id = value!.trimEnd();
    else if (field === 'content-length' && length === undefined && /^[0-9]{1,6}$/.test(value!))
      length = Number(value);
    else if (field !== 'connection' || value!.trimEnd().toLowerCase() !== 'keep-alive') return undefined;
  }
  if (headEnd + HEAD_END.length + (length ?? 0) !== chunk.length) return undefined;
  return { method, requestId: id, head };
}

/** Whether the parser read the same head: then it stood between two requests before, and does so again afterwards. */
function isSame({ head }: PlainRequest, { method, url, rawHeaders, complete }: IncomingMessage): boolean {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}:${rawHeaders[index + 1]}`);
  const trimmed = head.replaceAll(/:[\t ]*([^\r]*?)[\t ]*(?=\r|$)/g, ':$1');
  return complete && trimmed === lines.join('\r\n');
}

type Refusal = { readonly socket: Socket; text: string | undefined };

function send(refusal: Refusal): void {
  const { socket, text } = refusal;
  refusal.text = undefined;
  if (text !== undefined && !socket.destroyed) socket.write(text);
}

/**
 * Sends refusals a few at a time, once per turn of the event loop. All at once they would take tens of milliseconds, and the
 * batches of the requests that were let in make only one step per turn.
 */
function createSender(): (refusal: Refusal) => void {
  const waiting: Refusal[] = [];
  function sendSome(): void {
    for (const refusal of waiting.splice(0, LIMITS.refusalsPerTurnMax)) send(refusal);
    if (waiting.length > 0) setImmediate(sendSome);
  }
  return (refusal) => {
    if (waiting.length === 0) setImmediate(sendSome);
    waiting.push(refusal);
  };
}

export function createShortcut(options: ShortcutOptions): Shortcut {
  const { isShedding, refusalOf, isIdle, monitor } = options;
  const installed = new WeakSet<Socket>();
  const sendSoon = createSender();

  function refusalFor(socket: Socket, plain: PlainRequest): string | undefined {
    if (socket.writableNeedDrain || !isIdle(socket)) return undefined;
    return refusalOf({ socket, method: plain.method, requestId: requestId(plain.requestId) });
  }

  /** Stands between the socket and the parser. */
  function filter(socket: Socket, parse: (chunk: Buffer) => void): (chunk: Buffer) => void {
    let isBetween = false;
    let parsed: IncomingMessage[] = [];
    const refusal: Refusal = { socket, text: undefined };
    monitor(socket, (request) => parsed.push(request));
    /** Between two requests, the parser cannot but agree on a plain one. */
    const isStillBetween = (plain: PlainRequest): boolean =>
      parsed.length === 1 && (isBetween ? parsed[0]!.complete : isSame(plain, parsed[0]!));
    return (chunk) => {
      // The client did not wait for its answer.
      send(refusal);
      const plain = isShedding() ? readPlainRequest(chunk) : undefined;
      if (plain !== undefined && isBetween) refusal.text = refusalFor(socket, plain);
      if (refusal.text !== undefined) {
        sendSoon(refusal);
        return;
      }
      parsed = [];
      parse.call(socket, chunk);
      isBetween = plain !== undefined && isStillBetween(plain);
      parsed = [];
    };
  }

  return {
    install(socket) {
      const [parse, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[];
      if (installed.has(socket) || socket.destroyed || parse === undefined || others.length > 0) return;
      installed.add(socket);
      // Once there is another listener, the parser does not read from the socket by itself any more.
      socket.off('data', parse);
      socket.on('data', filter(socket, parse));
    },
  };
}
