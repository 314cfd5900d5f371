import http from 'node:http';
import https from 'node:https';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import { signedHeaders } from './signature.ts';

/** What became of a request to an adapter. */
export type Reply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Parsed JSON; undefined if the body is not JSON. */
      readonly body: unknown;
      /** As it was received, for signatures. */
      readonly text: string;
      header(name: string): string | undefined;
      /** The request was sent twice: an idle connection closed at the moment at which it was used. */
      readonly isSecond: boolean;
    }
  /** There was no connection, so not a byte of the request was sent. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The request was sent, in part or as a whole, and no complete answer came back. */
  | { readonly kind: 'no-answer'; readonly reason: string };

export type Call = {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Appended to the configured URL: `/payments/…`. */
  readonly path: string;
  readonly body?: object;
};

export type AdapterClient = {
  /** Throws the reason of the signal if the caller aborts. */
  call(call: Call, signal: AbortSignal): Promise<Reply>;
  close(): void;
};

export type ClientOptions = {
  readonly url: string;
  /** Requests are signed with each of them. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  /** Change what was signed. For the test of adapters, which sends requests that must be refused. */
  readonly alter?: (headers: Record<string, string>) => Record<string, string>;
  readonly alterBody?: (body: string) => string;
};

function createAgent(isTls: boolean): http.Agent {
  const { connectionsMax, idleConnectionsMax, idleConnectionMs } = HTTP_RAIL_LIMITS;
  const options = {
    keepAlive: true,
    maxSockets: connectionsMax,
    maxFreeSockets: idleConnectionsMax,
    timeout: idleConnectionMs,
    scheduling: 'lifo',
  } as const;
  return isTls ? new https.Agent(options) : new http.Agent(options);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same content always has the same bytes, whatever order its fields come in from the database. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

class TooLarge extends Error {
  constructor() {
    super(`the answer has more than ${HTTP_RAIL_LIMITS.answerBytesMax} bytes`);
  }
}

/** The whole body: an answer that is cut off could be the beginning of another one. */
function readAnswer(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > HTTP_RAIL_LIMITS.answerBytesMax) response.destroy(new TooLarge());
    });
    response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    response.on('error', reject);
    response.on('close', () => reject(new Error('the connection was closed in the middle of the answer')));
  });
}

/** Reports whether the request can have left this machine. A new connection sends nothing before it is established. */
function watchSending(request: http.ClientRequest, isTls: boolean): () => boolean {
  let maySend = false;
  request.on('socket', (socket) => {
    if (request.reusedSocket || !socket.connecting) maySend = true;
    else
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        maySend = true;
      });
  });
  return () => maySend;
}

/** Node's messages of these errors are as clear as they are short: "connect ECONNREFUSED 127.0.0.1:9000". */
const reasonOf = (error: Error): string =>
  error.message || (error as NodeJS.ErrnoException).code || error.name;

type Sending = Pick<ClientOptions, 'url' | 'timeoutMs'> & {
  readonly agent: http.Agent;
  readonly target: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
};

function send(sending: Sending, signal: AbortSignal, isSecond = false): Promise<Reply> {
  const { url, agent, target, method, headers, body, timeoutMs } = sending;
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'https:';
  return new Promise((resolve, reject) => {
    const options = {
      method,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: target,
      headers,
      agent,
    };
    const request = (isTls ? https : http).request(options);
    const maySend = watchSending(request, isTls);
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const giveUp = (): void => void request.destroy(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    let hasAnswered = false;
    const fail = (error: NodeJS.ErrnoException): void => {
      finish();
      // The adapter closed an idle connection at the moment at which it was used again. Requests are idempotent.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !hasAnswered && !isSecond;
      if (signal.aborted) reject(signal.reason as Error);
      else if (isStale) resolve(send(sending, signal, true));
      else resolve({ kind: maySend() || isSecond ? 'no-answer' : 'not-sent', reason: reasonOf(error) });
    };
    request.on('error', fail);
    request.on('response', (response) => {
      hasAnswered = true;
      readAnswer(response).then((text) => {
        finish();
        const header = (name: string): string | undefined => response.headers[name]?.toString();
        resolve({
          kind: 'answered',
          status: response.statusCode!,
          body: parsed(text),
          text,
          header,
          isSecond,
        });
      }, fail);
    });
    request.end(body);
  });
}

/** The HTTP client for one adapter. Redirects are not followed, and proxies are not used. */
export function createAdapterClient(options: ClientOptions): AdapterClient {
  const {
    url,
    secrets,
    timeoutMs,
    nowMs,
    alter = (headers) => headers,
    alterBody = (body) => body,
  } = options;
  const base = new URL(url).pathname.replace(/\/+$/, '');
  const agent = createAgent(url.startsWith('https:'));
  return {
    async call({ method, path, body: content }, signal) {
      signal.throwIfAborted();
      const target = base + path;
      const signed = content === undefined ? undefined : JSON.stringify(sorted(content));
      const body = signed === undefined ? undefined : alterBody(signed);
      const headers = alter({
        'user-agent': 'Ferry-Rail/1',
        accept: 'application/json',
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        }),
        ...signedHeaders(secrets, { method, target, body: signed }, nowMs()),
      });
      return send({ url, agent, target, method, headers, body, timeoutMs }, signal);
    },
    close: () => agent.destroy(),
  };
}
