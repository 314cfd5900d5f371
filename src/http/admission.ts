import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import type { Queue } from '../kernel/queue.ts';
import { LIMITS } from '../limits.ts';
import { createGate, type Gate } from './gate.ts';
import { createPacer, type Held, type Pacer } from './pacer.ts';
import { problemBody } from './problems.ts';
import { requestId } from './request-id.ts';

/** Refuses requests that could not be served in time, before anything else is done for them. */
export type Admission = {
  /** Handles the request, now or when the thread has time for it, or refuses it. */
  admit(request: IncomingMessage, response: ServerResponse, handle: Held['handle']): void;
  start(): void;
  stop(): void;
};

export type RequestKind = 'read' | 'write';

export type AdmissionOptions = {
  /** Reads wait for connections of the database, writes for the write path. */
  readonly queues: Readonly<Record<RequestKind, Queue>>;
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

const kindOf = ({ method }: IncomingMessage): RequestKind =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

const DETAIL = 'The service is overloaded. Nothing was executed; retry with the same ref_id.';

type Refusal = { readonly body: string; readonly length: string };

/** One for each time after which a client is asked to come back. */
function createRefusals(publicUrl: string): Refusal[] {
  return LIMITS.overloadRetryMs.map((ms) => {
    const problem = new Problem('unavailable', DETAIL, { retry_after_ms: ms });
    const body = JSON.stringify(problemBody(problem, publicUrl));
    return { body, length: String(Buffer.byteLength(body)) };
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

/** Reads wait for the thread, and then for a connection. */
function readQueue(pacer: Pacer, connections: Queue): Queue {
  return {
    waiting: () => pacer.waiting() + connections.waiting(),
    // Those that the pacer has started have entered the other queue.
    entered: () => pacer.waiting() + connections.entered(),
  };
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { publicUrl, logger, metrics } = options;
  const pacer = createPacer(() => options.queues.read.waiting() < LIMITS.admissionReadsMin);
  const queues = { read: readQueue(pacer, options.queues.read), write: options.queues.write };
  const gates: Readonly<Record<RequestKind, Gate>> = {
    read: createGate({
      queue: queues.read,
      targetMs: LIMITS.admissionReadWaitMs,
      waitingMin: LIMITS.admissionReadsMin,
    }),
    write: createGate({
      queue: queues.write,
      targetMs: LIMITS.admissionWaitMs,
      waitingMin: LIMITS.admissionCommandsMin,
    }),
  };
  metrics.watchWaits((kind) => gates[kind].waitMs / 1_000);
  let refusals: readonly Refusal[] | undefined;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let loggedMs = Number.NEGATIVE_INFINITY;

  function logOnce(kind: RequestKind): void {
    const nowMs = performance.now();
    if (nowMs - loggedMs < LOG_MS) return;
    loggedMs = nowMs;
    const facts = { kind, waiting: queues[kind].waiting() };
    logger.warn(facts, 'the service is overloaded: requests that would have to wait too long get a 503');
  }

  function refuse(kind: RequestKind, request: IncomingMessage, response: ServerResponse): void {
    gates[kind].refused();
    metrics.requestShed(kind);
    logOnce(kind);
    // Made only now: the public URL is final once the server listens.
    refusals ??= createRefusals(publicUrl());
    count += 1;
    const { body, length } = refusals[count % refusals.length]!;
    response.writeHead(503, [
      'content-type',
      'application/problem+json; charset=utf-8',
      'content-length',
      length,
      'retry-after',
      '1',
      'x-request-id',
      requestId(request.headers['x-request-id']),
    ]);
    response.end(body);
  }

  /** Reads that were let in as part of a burst, before it turned out to be an overload. */
  function refuseExcess(): void {
    while (pacer.waiting() > 0 && queues.read.waiting() > gates.read.waitingMax) {
      const { request, response } = pacer.takeBack()!;
      if (!response.closed) refuse('read', request, response);
    }
  }

  return {
    admit(request, response, handle) {
      const kind = kindOf(request);
      const isFull = queues[kind].waiting() >= gates[kind].waitingMax;
      const hasToWait = kind === 'read' && pacer.isBusy();
      if (!(isFull || hasToWait) || !isSheddable(request.url!)) handle(request, response);
      else if (isFull) refuse(kind, request, response);
      else pacer.hold({ request, response, handle });
    },
    start() {
      timer ??= repeatedly(LIMITS.admissionLookMs, (elapsedMs, lateMs) => {
        pacer.look(elapsedMs, lateMs);
        for (const gate of [gates.read, gates.write]) gate.look(elapsedMs, lateMs);
        refuseExcess();
      });
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      pacer.stop();
    },
  };
}
