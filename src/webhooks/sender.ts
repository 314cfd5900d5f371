import { lookup as systemLookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { LIMITS } from '../limits.ts';
import { isPublicAddress } from './addresses.ts';
import { literalAddress, type Reach, urlFault } from './url.ts';

export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>;

export type SenderOptions = {
  readonly reach: Reach;
  /** Names to addresses; only tests have another one. */
  readonly resolve?: Resolve;
  /** Certificates to trust beside the usual ones; only tests have any. */
  readonly ca?: string;
  readonly isAllowed?: (address: string) => boolean;
  readonly timeoutMs?: number;
};

/** What came of one request. With a status the receiver has answered, whatever became of the rest. */
export type SendResult = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly error: string | undefined;
  readonly durationMs: number;
};

export type Sender = {
  post(url: string, headers: Record<string, string>, body: string): Promise<SendResult>;
  /** Why the host may not be called, as far as can be known now; undefined also when it is not known. */
  hostFault(url: string): Promise<string | undefined>;
  close(): void;
};

export class ForbiddenAddress extends Error {
  constructor(address: string) {
    super(`${address} is not a public address`);
  }
}

const SHOWN_HEADERS = ['content-type', 'content-length', 'location', 'retry-after', 'server', 'date'];

function shownHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value).slice(0, 200)]];
  });
  return Object.fromEntries(shown) as Record<string, string>;
}

/** Text that the database can keep. */
function readable(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .subarray(0, LIMITS.webhookResponseBytesMax)
    .toString('utf8')
    .replaceAll('\0', '\uFFFD')
    .toWellFormed();
}

/** The first bytes of the body, for a short while. The rest is never read: the connection is cut instead. */
function readSome(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isDone = false;
    const done = (isWhole: boolean): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (!isWhole) response.destroy();
      resolve(readable(chunks));
    };
    const timer = setTimeout(() => done(false), LIMITS.webhookResponseBodyMs);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LIMITS.webhookResponseBytesMax) done(false);
    });
    response.on('end', () => done(true));
    response.on('error', () => done(false));
    response.on('close', () => done(false));
  });
}

/**
 * The client for webhooks. The addresses that a lookup gives are checked, and the connection is made to these very
 * addresses: a name that has another answer a moment later changes nothing. Once connected, the socket's own address
 * is looked at again before a byte is sent. Redirects are answers like others; proxies are not used.
 */
export function createSender(options: SenderOptions): Sender {
  const { reach, ca } = options;
  const timeoutMs = options.timeoutMs ?? LIMITS.webhookTimeoutMs;
  const resolve: Resolve = options.resolve ?? ((host) => systemLookup(host, { all: true }));
  const isAllowed = options.isAllowed ?? (reach === 'anywhere' ? (): boolean => true : isPublicAddress);

  async function allowedAddresses(host: string): Promise<{ address: string; family: number }[]> {
    const found = await resolve(host);
    const bad = found.find(({ address }) => !isAllowed(address));
    if (bad !== undefined) throw new ForbiddenAddress(`${host} has the address ${bad.address}, which`);
    if (found.length === 0) throw new Error(`${host} has no address`);
    return found;
  }

  const lookup: LookupFunction = (host, lookupOptions, callback) => {
    void (async () => {
      try {
        const found = await allowedAddresses(host);
        if (lookupOptions.all === true) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      } catch (error) {
        callback(error as NodeJS.ErrnoException, '');
      }
    })();
  };

  const agentOptions = { keepAlive: true, maxFreeSockets: 64, timeout: 30_000, scheduling: 'lifo' } as const;
  const agents = {
    'http:': new http.Agent(agentOptions),
    'https:': new https.Agent({ ...agentOptions, ...(ca === undefined ? {} : { ca }) }),
  };

  /** Before anything is sent: where the socket really leads. */
  function guard(request: http.ClientRequest): void {
    request.on('socket', (socket) => {
      const check = (): void => {
        const address = socket.remoteAddress;
        if (address !== undefined && !isAllowed(address)) request.destroy(new ForbiddenAddress(address));
      };
      if (socket.connecting) socket.once('connect', check);
      else check();
    });
  }

  function send(
    url: URL,
    headers: Record<string, string>,
    body: string,
    started: number,
    isSecond = false,
  ): Promise<SendResult> {
    return new Promise((settle) => {
      const end = (part: Partial<SendResult>): void => {
        clearTimeout(timer);
        const durationMs = Math.round(performance.now() - started);
        settle({ status: undefined, headers: {}, body: '', error: undefined, durationMs, ...part });
      };
      const client = url.protocol === 'https:' ? https : http;
      const request = client.request(url, {
        method: 'POST',
        agent: agents[url.protocol as 'http:' | 'https:'],
        lookup,
        headers: {
          'user-agent': 'Ferry-Webhooks/1',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      });
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      guard(request);
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver closed an idle connection at the moment when we used it again: no failure, just bad luck.
        if (request.reusedSocket && error.code === 'ECONNRESET' && !isSecond) {
          clearTimeout(timer);
          return settle(send(url, headers, body, started, true));
        }
        end({ error: (error.message || String(error.code)).slice(0, 300) });
      });
      request.on('response', (response) => {
        clearTimeout(timer);
        const { statusCode: status } = response;
        void readSome(response).then((text) =>
          end({ status, headers: shownHeaders(response.headers), body: text }),
        );
      });
      request.end(body);
    });
  }

  return {
    async post(text, headers, body) {
      const started = performance.now();
      // Registered under other rules, perhaps: a sandbox that became production.
      const fault = urlFault(text, reach);
      const url = fault === undefined ? new URL(text) : undefined;
      const literal = url === undefined ? undefined : literalAddress(url);
      if (url === undefined || (literal !== undefined && !isAllowed(literal))) {
        const error = `the url ${fault ?? 'must name a public address'}`;
        return { status: undefined, headers: {}, body: '', error, durationMs: 0 };
      }
      return send(url, headers, body, started);
    },
    async hostFault(text) {
      const url = new URL(text);
      if (reach === 'anywhere' || literalAddress(url) !== undefined) return undefined;
      const timeout = new Promise<undefined>((done) =>
        setTimeout(done, LIMITS.webhookLookupMs, undefined).unref(),
      );
      const checked = allowedAddresses(url.hostname).then(
        () => undefined,
        (error: unknown) => (error instanceof ForbiddenAddress ? error.message : undefined),
      );
      return Promise.race([checked, timeout]);
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
