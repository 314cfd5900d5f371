import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import type { Queue } from '../kernel/queue.ts';
import { LIMITS } from '../limits.ts';
import { createGate, type Gate } from './gate.ts';
import { problemBody } from './problems.ts';
import { requestId } from './request-id.ts';
import type { ShortcutOptions } from './shortcut.ts';
import type { Turns } from './turns.ts';
import type { RequestKind, Usage } from './usage.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Refuses requests that could not be served in time, before anything else is done for them. In an overload, a customer that
 * has less than its share in flight is still let in.
 */
export type Admission = {
  /** Handles the request, or refuses it. */
  admit(request: IncomingMessage, response: ServerResponse, handle: Handle): void;
  readonly isShedding: ShortcutOptions['isShedding'];
  readonly refusalOf: ShortcutOptions['refusalOf'];
  /** Called with the socket of every request that `admit` refused, once its answer was sent. */
  onRefused(listener: (socket: Socket) => void): void;
  start(): void;
  stop(): void;
};

export type AdmissionOptions = {
  /** Reads wait for their turn, writes for the write path. */
  readonly turns: Turns;
  readonly writes: Queue;
  readonly usage: Usage;
  publicUrl(): string;
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: {
    requestShed(kind: RequestKind): void;
    /** For the metrics: read when they are requested. */
    watchWaits(waitSeconds: (kind: RequestKind) => number): void;
  };
};

/**
 * Always answered: health, metrics, tokens, and pages of a few bytes. Everything else can be refused. Not the other way
 * round: a path can be written in many ways (`/%762/profiles`), and none of them must be a way in.
 */
const ALWAYS = /^\/(health|metrics|oauth2|\.well-known|problems|openapi\.json)(\/|\?|$)/;

export const isSheddable = (url: string): boolean => !ALWAYS.test(url);

/** The log has one line about an overload, and one more for every minute that it lasts. */
const LOG_MS = 60_000;

const kindOf = ({ method }: { readonly method?: string | undefined }): RequestKind =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

const DETAIL = 'The service is overloaded. Nothing was executed; retry with the same ref_id.';

type Refusal = { readonly headers: readonly string[]; readonly body: string; readonly text: string };

/** One for each time after which a client is asked to come back. The id of the request has to be added. */
function createRefusals(publicUrl: string): Refusal[] {
  return LIMITS.overloadRetryMs.map((ms) => {
    const problem = new Problem('unavailable', DETAIL, { retry_after_ms: ms });
    const body = JSON.stringify(problemBody(problem, publicUrl));
    const headers = [
      ['content-type', 'application/problem+json; charset=utf-8'],
      ['content-length', String(Buffer.byteLength(body))],
      ['retry-after', '1'],
    ];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return { headers: headers.flat(), body, text: `HTTP/1.1 503 Service Unavailable\r\n${lines}` };
  });
}

/** Calls back with the time since the last call, and how much later than planned this one is. */
function repeatedly(intervalMs: number, look: (elapsedMs: number, lateMs: number) => void): NodeJS.Timeout {
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    look(nowMs - lastMs, Math.max(0, nowMs - lastMs - intervalMs));
    lastMs = nowMs;
  }, intervalMs);
  return timer.unref();
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { turns, usage, publicUrl, logger, metrics } = options;
  const queues = { read: turns.queue, write: options.writes };
  const gates: Readonly<Record<RequestKind, Gate>> = {
    read: createGate({
      queue: queues.read,
      targetMs: LIMITS.admissionReadWaitMs,
      crowd: LIMITS.admissionReadsCrowd,
      waitingMin: LIMITS.admissionReadsMin,
    }),
    write: createGate({
      queue: queues.write,
      targetMs: LIMITS.admissionWaitMs,
      crowd: LIMITS.admissionCommandsCrowd,
      waitingMin: LIMITS.admissionCommandsMin,
    }),
  };
  metrics.watchWaits((kind) => gates[kind].waitMs / 1_000);
  let refusals: readonly Refusal[] | undefined;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let loggedMs = Number.NEGATIVE_INFINITY;
  let refused: (socket: Socket) => void = () => undefined;

  function logOnce(kind: RequestKind): void {
    const nowMs = performance.now();
    if (nowMs - loggedMs < LOG_MS) return;
    loggedMs = nowMs;
    const facts = { kind, waiting: queues[kind].waiting() };
    logger.warn(facts, 'the service is overloaded: requests that would have to wait too long get a 503');
  }

  function noteRefusal(kind: RequestKind): void {
    gates[kind].refused();
    metrics.requestShed(kind);
    logOnce(kind);
  }

  function nextRefusal(kind: RequestKind): Refusal {
    noteRefusal(kind);
    // Made only now: the public URL is final once the server listens.
    refusals ??= createRefusals(publicUrl());
    count += 1;
    return refusals[count % refusals.length]!;
  }

  function refuse(kind: RequestKind, request: IncomingMessage, response: ServerResponse): void {
    const { headers, body } = nextRefusal(kind);
    response.writeHead(503, [...headers, 'x-request-id', requestId(request.headers['x-request-id'])]);
    response.once('close', () => refused(request.socket));
    response.end(body);
  }

  /** Reads that were let in as part of a burst, before it turned out to be an overload. */
  function refuseExcess(): void {
    while (turns.queue.waiting() > gates.read.waitingMax) {
      count += 1;
      const retryMs = LIMITS.overloadRetryMs[count % LIMITS.overloadRetryMs.length];
      noteRefusal('read');
      turns.refuseOne(new Problem('unavailable', DETAIL, { retry_after_ms: retryMs }, 1));
    }
  }

  function isRefused(kind: RequestKind, socket: Socket): boolean {
    const { waitingMax } = gates[kind];
    return queues[kind].waiting() >= waitingMax && !usage.isWithinShare(socket, kind, waitingMax);
  }

  return {
    admit(request, response, handle) {
      const kind = kindOf(request);
      if (isRefused(kind, request.socket) && isSheddable(request.url!)) refuse(kind, request, response);
      else handle(request, response);
    },
    isShedding: () => gates.read.isShedding() || gates.write.isShedding(),
    refusalOf(request) {
      const kind = kindOf(request);
      if (!isRefused(kind, request.socket)) return undefined;
      const { text, body } = nextRefusal(kind);
      return `${text}x-request-id: ${request.requestId}\r\n\r\n${body}`;
    },
    onRefused(listener) {
      refused = listener;
    },
    start() {
      timer ??= repeatedly(LIMITS.admissionLookMs, (elapsedMs, lateMs) => {
        for (const gate of [gates.read, gates.write]) gate.look(elapsedMs, lateMs);
        refuseExcess();
      });
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
