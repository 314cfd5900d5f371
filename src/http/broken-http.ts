import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Paths } from './paths.ts';
import { headersTooLarge, problemBody, problemHeaders } from './problems.ts';
import { requestId } from './request-id.ts';

/**
 * Answers to bytes that never become a request of the app, as they go over the wire. The connection is closed after them. They
 * are problems like any others: with the id of a request, in the log and in the metrics.
 */
export type BrokenHttp = {
  /** `inside` is the request in whose body the error is, if it is in one. */
  answer(error: ParserError, socket: Socket, inside: IncomingMessage | undefined): string;
  /** To the method CONNECT, which is not passed to the app. */
  connect(request: IncomingMessage): string;
};

export type ParserError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

export type BrokenHttpOptions = {
  publicUrl(): string;
  readonly paths: Paths;
  readonly logger: Pick<Logger, 'info'>;
  observe(route: string, method: string, status: number, seconds: number): void;
};

type Head = { readonly method: string; readonly target: string; readonly requestId: string | undefined };

/** RFC 9112 section 3, with any token as the method. */
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/;
const REQUEST_ID = /\r\nx-request-id:[\t ]*([^\r\n]*?)[\t ]*\r\n/i;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

/**
 * The request whose method the parser does not know. The parser stops within the method, or right behind it; bytes before it
 * in the same packet belong to earlier requests.
 */
function unknownMethod({ code, rawPacket, bytesParsed = 0 }: ParserError): Head | undefined {
  if (rawPacket === undefined || (code !== 'HPE_INVALID_METHOD' && code !== 'HPE_INVALID_CONSTANT'))
    return undefined;
  const text = rawPacket.toString('latin1');
  // A method of another protocol, such as DESCRIBE of RTSP, is recognized only by the version at the end of the line.
  let start = code === 'HPE_INVALID_METHOD' ? bytesParsed : text.lastIndexOf('\n', bytesParsed) + 1;
  if (code === 'HPE_INVALID_METHOD') while (start > 0 && TOKEN.test(text[start - 1]!)) start -= 1;
  const [line, method, target] = REQUEST_LINE.exec(text.slice(start)) ?? [];
  if (line === undefined) return undefined;
  const [head = ''] = text.slice(start).split('\r\n\r\n', 1);
  return { method: method!, target: target!, requestId: REQUEST_ID.exec(`${head}\r\n`)?.[1] };
}

/** The message of the parser is not passed on: it may quote the bytes. */
function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const seconds = LIMITS.requestArrivalMs / 1_000;
    return new Problem('request-timeout', `The request did not arrive within ${seconds} seconds.`);
  }
  return new Problem('invalid-request', 'The request is not valid HTTP.', { errors: [] });
}

function wireAnswer(problem: Problem, publicUrl: string, id: string): string {
  const { status } = problem;
  const body = JSON.stringify(problemBody(problem, publicUrl));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    `x-request-id: ${id}`,
    'connection: close',
    ...Object.entries(problemHeaders(problem)).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}

/** The sender went away in the middle of a body. That is no mistake of anybody, and nothing for the log. */
const ENDED_EARLY = 'HPE_INVALID_EOF_STATE';

const LOG_MS = 60_000;

/** Anybody can send what is not HTTP, at any rate: the log has so many lines of it in a minute, and the number of the others. */
function createBoundedLog(logger: BrokenHttpOptions['logger']): (facts: object) => void {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (facts) => {
    const nowMs = performance.now();
    if (nowMs - sinceMs >= LOG_MS) {
      const unlogged = count - LIMITS.brokenRequestsLoggedMax;
      if (unlogged > 0) logger.info({ unlogged }, 'more requests were not valid HTTP');
      sinceMs = nowMs;
      count = 0;
    }
    count += 1;
    if (count <= LIMITS.brokenRequestsLoggedMax) logger.info(facts, 'a request was not valid HTTP');
  };
}

export function createBrokenHttp({ publicUrl, paths, logger, observe }: BrokenHttpOptions): BrokenHttp {
  const log = createBoundedLog(logger);
  function answered(problem: Problem, id: string, facts: { socket: Socket; code?: string; route?: string }) {
    const { socket, code, route = 'unknown' } = facts;
    const from = socket.remoteAddress;
    if (code !== ENDED_EARLY)
      log({ request_id: id, status: problem.status, problem: problem.slug, code, from });
    observe(route, 'other', problem.status, 0);
    return wireAnswer(problem, publicUrl(), id);
  }
  return {
    answer(error, socket, inside) {
      const { code = 'unknown' } = error;
      const head = inside === undefined ? unknownMethod(error) : undefined;
      if (head !== undefined) {
        const { method, target } = head;
        const route = paths.find(target) ?? 'unknown';
        return answered(paths.refuse(method, target), requestId(head.requestId), { socket, code, route });
      }
      return answered(problemOf(code), requestId(inside?.headers['x-request-id']), { socket, code });
    },
    connect({ socket, headers }) {
      const detail = 'This service is not a proxy: CONNECT is not supported.';
      const problem = new Problem('method-not-allowed', detail, { allow: [] });
      return answered(problem, requestId(headers['x-request-id']), { socket });
    },
  };
}
