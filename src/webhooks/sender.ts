import { lookup as systemLookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { isPublicAddress } from './addresses.ts';
import { literalAddress, type Reach, urlFault } from './url.ts';

export type ResolveHost = (host: string) => Promise<{ address: string; family: number }[]>;

export type SenderOptions = {
  readonly reach: Reach;
  /** From a name to its addresses. For tests; the default is the system's resolver. */
  readonly resolveHost?: ResolveHost;
  /** Certificates to trust in addition to the system's. For tests. */
  readonly ca?: string;
  readonly isAllowed?: (address: string) => boolean;
  readonly timeoutMs?: number;
};

/** The result of one request. With a status, the receiver has answered, even if the rest of the answer is missing. */
export type SendResult = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly error: string | undefined;
  readonly durationMs: number;
};

export type Sender = {
  post(url: string, headers: Record<string, string>, body: string): Promise<SendResult>;
  /** Why the host must not be called; undefined if it may be, or if its addresses cannot be looked up now. */
  hostFault(url: string): Promise<string | undefined>;
  close(): void;
};

/** Without the address: what a name resolves to inside the operator's network is not for customers. */
class ForbiddenAddress extends Error {
  constructor() {
    super('the host does not have a public address');
  }
}

/** Reasons by the code of the error. The messages of Node name addresses, ports and DNS answers. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name could not be resolved',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'the connection timed out',
  EPROTO: 'the TLS handshake failed',
};

/** Why a request failed, as the owner of the endpoint may know it. */
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error instanceof ForbiddenAddress || error instanceof NoAnswer) return error.message;
  const { code = '' } = error;
  if (code.startsWith('HPE_')) return `the answer is not valid HTTP (${code})`;
  if (/CERT|ALTNAME|SIGNATURE|ISSUER/.test(code)) return `the TLS certificate is not valid (${code})`;
  return REASONS[code] ?? `the request failed${code === '' ? '' : ` (${code})`}`;
}

class NoAnswer extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
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

/** Text that the database can store. */
function readable(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .subarray(0, LIMITS.webhookResponseBytesMax)
    .toString('utf8')
    .replaceAll('\0', '\uFFFD')
    .toWellFormed();
}

/** The first bytes of the body, within a time limit. The rest is not read: the connection is closed instead. */
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

type Address = { readonly address: string; readonly family: number };

/** Checks every address of a name, and the address of every connection. */
type Guard = {
  /** Throws ForbiddenAddress when one of them is forbidden. */
  allowedAddresses(host: string): Promise<Address[]>;
  /** For the HTTP client, so that it connects to the addresses that were checked, and does not look them up again. */
  readonly lookup: LookupFunction;
  /** Checks the address of the socket before anything is sent. */
  watch(request: http.ClientRequest): void;
};

function createGuard(resolveHost: ResolveHost, isAllowed: (address: string) => boolean): Guard {
  async function allowedAddresses(host: string): Promise<Address[]> {
    const found = await resolveHost(host);
    const bad = found.find(({ address }) => !isAllowed(address));
    if (bad !== undefined) throw new ForbiddenAddress();
    if (found.length === 0) throw new ForbiddenAddress();
    return found;
  }
  return {
    allowedAddresses,
    lookup(host, options, answer) {
      allowedAddresses(host).then(
        (found) => {
          if (options.all === true) answer(null, found);
          else answer(null, found[0]!.address, found[0]!.family);
        },
        (error: NodeJS.ErrnoException) => answer(error, ''),
      );
    },
    watch(request) {
      request.on('socket', (socket) => {
        const check = (): void => {
          const address = socket.remoteAddress;
          if (address !== undefined && !isAllowed(address)) request.destroy(new ForbiddenAddress());
        };
        if (socket.connecting) socket.once('connect', check);
        else check();
      });
    },
  };
}

type Agents = { readonly 'http:': http.Agent; readonly 'https:': https.Agent };

function createAgents(ca: string | undefined): Agents {
  const options = { keepAlive: true, maxFreeSockets: 64, timeout: 30_000, scheduling: 'lifo' } as const;
  return {
    'http:': new http.Agent(options),
    'https:': new https.Agent({ ...options, ...(ca === undefined ? {} : { ca }) }),
  };
}

type Message = {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly startedMs: number;
};

type Client = { readonly guard: Guard; readonly agents: Agents; readonly timeoutMs: number };

function openRequest({ url, headers, body }: Message, { guard, agents }: Client): http.ClientRequest {
  const protocol = url.protocol === 'https:' ? https : http;
  return protocol.request(url, {
    method: 'POST',
    agent: agents[url.protocol as keyof Agents],
    lookup: guard.lookup,
    headers: {
      'user-agent': 'Ferry-Webhooks/1',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  });
}

function send(message: Message, client: Client, isSecond = false): Promise<SendResult> {
  const { timeoutMs } = client;
  return new Promise((resolve) => {
    const request = openRequest(message, client);
    const timer = setTimeout(() => request.destroy(new NoAnswer(timeoutMs)), timeoutMs);
    const end = (part: Partial<SendResult>): void => {
      clearTimeout(timer);
      const durationMs = Math.round(performance.now() - message.startedMs);
      resolve({ status: undefined, headers: {}, body: '', error: undefined, durationMs, ...part });
    };
    let hasAnswered = false;
    client.guard.watch(request);
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The status counts, even if the connection is lost while the body is read: `readSome` then ends.
      if (hasAnswered) return;
      // The receiver closed an idle connection at the moment at which it was used again: not a failure of the receiver.
      if (request.reusedSocket && error.code === 'ECONNRESET' && !isSecond) {
        clearTimeout(timer);
        return resolve(send(message, client, true));
      }
      end({ error: reasonOf(error) });
    });
    request.on('response', (response) => {
      hasAnswered = true;
      clearTimeout(timer);
      const { statusCode: status } = response;
      void readSome(response).then((text) =>
        end({ status, headers: shownHeaders(response.headers), body: text }),
      );
    });
    request.end(message.body);
  });
}

/** The HTTP client for webhooks. Redirects are not followed: they are answers like any other. Proxies are not used. */
export function createSender(options: SenderOptions): Sender {
  const { reach, timeoutMs = LIMITS.webhookTimeoutMs } = options;
  const resolveHost = options.resolveHost ?? ((host) => systemLookup(host, { all: true }));
  const isAllowed = options.isAllowed ?? (reach === 'anywhere' ? (): boolean => true : isPublicAddress);
  const guard = createGuard(resolveHost, isAllowed);
  const agents = createAgents(options.ca);

  return {
    async post(text, headers, body) {
      const startedMs = performance.now();
      // The endpoint may have been registered under other rules, in a sandbox that became production.
      const fault = urlFault(text, reach);
      const url = fault === undefined ? new URL(text) : undefined;
      const literal = url === undefined ? undefined : literalAddress(url);
      if (url === undefined || (literal !== undefined && !isAllowed(literal))) {
        const error = `the url ${fault ?? 'must name a public address'}`;
        return { status: undefined, headers: {}, body: '', error, durationMs: 0 };
      }
      return send({ url, headers, body, startedMs }, { guard, agents, timeoutMs });
    },
    async hostFault(text) {
      const url = new URL(text);
      if (reach === 'anywhere' || literalAddress(url) !== undefined) return undefined;
      const timeout = sleep(LIMITS.webhookLookupMs, undefined, { ref: false });
      const checked = guard.allowedAddresses(url.hostname).then(
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
