import { chmodSync, chownSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { LIMITS } from '../limits.ts';
import { type DiscardRequest, type RecordingSigner, SignerRefusal, type SignRequest } from './contract.ts';
import { SignerError } from './failure.ts';

/**
 * How services ask: small HTTP requests over a unix socket that only one user or group may open, or over TLS with certificates
 * on both sides. Bodies, connections, requests and waits are bounded.
 */

export type Listen =
  | { readonly kind: 'socket'; readonly path: string; readonly gid: number | undefined }
  | {
      readonly kind: 'tls';
      readonly host: string;
      readonly port: number;
      readonly certificate: Buffer;
      readonly key: Buffer;
      /** Issues the certificates of the services. */
      readonly clientCa: Buffer;
      /** The common names of services that may ask. */
      readonly clientNames: readonly string[];
    };

export type RunningServer = {
  /** A socket's path, or host and port. */
  readonly address: string;
  close(): Promise<void>;
};

type Report = (message: string) => void;
class TooLarge extends Error {}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMITS.signerBodyBytesMax) throw new TooLarge();
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

const FIELDS = ['requestId', 'network', 'assignmentId', 'unsigned'] as const;

function requestOf(body: unknown): SignRequest {
  const given = body as Record<string, unknown> | null;
  const isComplete =
    typeof given === 'object' &&
    given !== null &&
    FIELDS.every((name) => typeof given[name] === 'string') &&
    typeof given.version === 'number';
  if (!isComplete)
    throw new SignerRefusal('unreadable', `A request must have ${FIELDS.join(', ')} and the number version.`);
  return given as unknown as SignRequest;
}

function discardOf(body: unknown): DiscardRequest {
  const given = body as Record<string, unknown> | null;
  const isComplete =
    typeof given === 'object' &&
    given !== null &&
    typeof given.requestId === 'string' &&
    typeof given.network === 'string' &&
    (given.assignmentId === null || typeof given.assignmentId === 'string') &&
    Array.isArray(given.keys) &&
    given.keys.every((key) => typeof key === 'string');
  if (!isComplete)
    throw new SignerRefusal('unreadable', 'A request must have requestId, network, assignmentId and keys.');
  return given as unknown as DiscardRequest;
}

async function handle(
  signer: RecordingSigner,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<object> {
  const { method, url = '' } = request;
  if (method === 'POST' && url === '/sign')
    return { signatures: await signer.sign(requestOf(await bodyOf(request)), signal) };
  if (method === 'POST' && url === '/discard') {
    await signer.discard(discardOf(await bodyOf(request)), signal);
    return {};
  }
  const [, network] = /^\/accounts\/([A-Z0-9_]{1,40})$/.exec(url) ?? [];
  if (method === 'GET' && network !== undefined) return signer.account(network as never, signal);
  const [, signedOn, line] = /^\/signed\/([A-Z0-9_]{1,40})\/([0-9]{1,12})$/.exec(url) ?? [];
  if (method === 'GET' && signedOn !== undefined)
    return signer.signed(signedOn as never, Number(line), signal);
  throw new SignerRefusal(
    'unreadable',
    `The signer has POST /sign, POST /discard, GET /accounts/<network> and GET /signed/<network>/<line>, not ${method} ${url}.`,
  );
}

/** A refusal is an answer. Everything else may be repeated; its message stays in the signer's own output. */
function answerError(response: ServerResponse, error: unknown, report: Report): void {
  if (error instanceof SignerRefusal) {
    answer(response, 403, { code: error.code, message: error.message });
    return;
  }
  if (error instanceof SyntaxError || error instanceof TooLarge) {
    const message = error instanceof TooLarge ? 'The body is too large.' : 'The body is not valid JSON.';
    answer(response, 400, { code: 'unreadable', message });
    return;
  }
  report(`a request failed: ${(error as Error).message}`);
  answer(response, 503, { message: 'The signer cannot sign at the moment. Nothing was signed.' });
}

function isKnownClient(listen: Listen, { socket }: IncomingMessage): boolean {
  if (listen.kind === 'socket') return true;
  const tls = socket as TLSSocket;
  return tls.authorized && listen.clientNames.includes(tls.getPeerCertificate().subject?.CN as string);
}

function listener(signer: RecordingSigner, listen: Listen, report: Report): RequestListener {
  let inProgress = 0;
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isKnownClient(listen, request)) {
      answer(response, 401, { message: 'The certificate is not one of client_names.' });
      return;
    }
    if (inProgress >= LIMITS.signerRequestsMax) {
      answer(response, 503, { message: 'The signer has too many requests in progress. Nothing was signed.' });
      return;
    }
    inProgress += 1;
    try {
      answer(response, 200, await handle(signer, request, AbortSignal.timeout(LIMITS.signerRequestMs)));
    } catch (error) {
      answerError(response, error, report);
    } finally {
      inProgress -= 1;
    }
  }
  return (request, response) => void respond(request, response);
}

/** Removes the socket of a signer that was killed. */
async function makeRoom(path: string): Promise<void> {
  const isAlive = await new Promise<boolean>((done) => {
    const socket = connect(path).once('error', () => done(false));
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
  });
  if (isAlive) throw new SignerError(`Another process listens on ${path}.`);
  rmSync(path, { force: true });
}

async function listenOn(server: Server, listen: Listen): Promise<string> {
  const started = new Promise<void>((done, fail) => {
    server.once('error', ({ message }) => fail(new SignerError(`The signer cannot listen: ${message}.`)));
    server.once('listening', done);
  });
  if (listen.kind === 'tls') {
    server.listen(listen.port, listen.host);
    await started;
    const { port } = server.address() as { port: number };
    return `${listen.host}:${port}`;
  }
  const { path, gid } = listen;
  await makeRoom(path);
  // From its first moment on, only this user can open the socket.
  const mask = process.umask(0o177);
  try {
    server.listen(path);
    await started;
  } finally {
    process.umask(mask);
  }
  if (gid !== undefined) {
    chownSync(path, process.getuid!(), gid);
    chmodSync(path, 0o660);
  }
  return path;
}

export async function serveSigner(
  signer: RecordingSigner,
  listen: Listen,
  report: Report,
): Promise<RunningServer> {
  const options = {
    requestTimeout: LIMITS.signerRequestMs,
    headersTimeout: LIMITS.signerRequestMs,
    connectionsCheckingInterval: 1_000,
  };
  const onRequest = listener(signer, listen, report);
  const server =
    listen.kind === 'socket'
      ? createServer(options, onRequest)
      : createTlsServer(
          {
            ...options,
            cert: listen.certificate,
            key: listen.key,
            ca: listen.clientCa,
            requestCert: true,
            rejectUnauthorized: true,
            minVersion: 'TLSv1.3',
          },
          onRequest,
        );
  server.maxConnections = LIMITS.signerConnectionsMax;
  const address = await listenOn(server, listen);
  return {
    address,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeIdleConnections();
      }),
  };
}
