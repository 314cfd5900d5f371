import { FerryProblem, NoAnswer, problemOf, TokenRefused } from './problems.ts';
import { basicCredentials, createTokenSource, type IssuedToken, type TokenSource } from './token.ts';

export type FerryOptions = {
  /** Where the service is, with the path prefix of a proxy if there is one: `https://ferry.example.com`. */
  readonly baseUrl: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The scopes of the token, separated by spaces. Absent: every scope of the client. */
  readonly scope?: string;
  /** Instead of client credentials: returns the token for a request. Absent as well: requests carry cookies of their origin. */
  readonly token?: () => string | Promise<string>;
  /** Further headers of a request, such as the `Ferry-Customer` that a person of the operator looks at. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** How long one attempt may take. */
  readonly attemptTimeoutMs?: number;
  /** How long a call may take with all its attempts. */
  readonly deadlineMs?: number;
};

export type CallOptions = {
  readonly signal?: AbortSignal;
  /** Replaces the deadline of the client for this call. */
  readonly deadlineMs?: number;
};

export type Sending = CallOptions & {
  readonly name: string;
  readonly method: string;
  /** Path and query, without the base. */
  readonly path: string;
  readonly body?: unknown;
  readonly accept?: string;
  /** Of a token request: the form, and the credentials of the client. */
  readonly form?: URLSearchParams;
  readonly authorization?: string;
  /** Whether the request may be sent again although the first one may have been executed. */
  readonly isRepeatable: boolean;
  readonly refId?: string | undefined;
  /** How long the service is asked to wait before it answers. */
  readonly waitMs?: number;
};

const ATTEMPT_TIMEOUT_MS = 20_000;
const DEADLINE_MS = 60_000;
const BACKOFF_MS = 100;
const BACKOFF_MAX_MS = 5_000;
/** Statuses of a refusal: the request was not executed, whatever it is. */
const NOT_EXECUTED = new Set([408, 429]);
/** Statuses that pass, of the service or of a proxy before it. The request may have been executed. */
const TEMPORARY = new Set([502, 503, 504]);

type Failure = { readonly error: unknown; readonly canRepeat: boolean; readonly delayMs?: number };
type Result = { readonly response: Response } | Failure;

/** `Retry-After` has whole seconds; the body of a refusal is more exact. */
function requestedDelayMs(error: FerryProblem, headers: Headers): number | undefined {
  const exact = error.meta.retry_after_ms;
  if (typeof exact === 'number') return exact;
  const seconds = headers.get('retry-after');
  return seconds !== null && /^[0-9]{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

/** Random, so that callers who failed together do not come back together. */
const backoffMs = (attempt: number): number =>
  Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** attempt);

function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export type Transport = {
  /** The answer, whose body has not been read. Throws a `FerryProblem` for one that is not a success. */
  open(sending: Sending): Promise<Response>;
  /** The answer, whose whole body is read as JSON; one that is cut off is repeated like one that did not arrive. */
  json(sending: Sending): Promise<unknown>;
};

export function createTransport(options: FerryOptions): Transport {
  const base = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);
  const tokens = tokensOf(options);

  function requestOf(sending: Sending, token: string | undefined, signal: AbortSignal): RequestInit {
    const { method, body, form, refId, accept = 'application/json' } = sending;
    const authorization = sending.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
    return {
      method,
      signal,
      headers: {
        ...options.headers?.(),
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(authorization === undefined ? {} : { authorization }),
        ...(refId === undefined ? {} : { 'idempotency-key': refId }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: form }),
    };
  }

  async function attempt(sending: Sending, timeoutMs: number): Promise<Result> {
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
    const signal = sending.signal === undefined ? timeout : AbortSignal.any([sending.signal, timeout]);
    try {
      const token = sending.form === undefined ? await tokens?.get() : undefined;
      const response = await send(base + sending.path, requestOf(sending, token, signal));
      if (response.ok) return { response };
      if (response.status === 401 && token !== undefined) tokens?.discard(token);
      return refusalOf(sending, response, await response.text());
    } catch (error) {
      sending.signal?.throwIfAborted();
      const hasNoToken = error instanceof FerryProblem || error instanceof NoAnswer;
      return { error, canRepeat: sending.isRepeatable && !hasNoToken };
    }
  }

  function refusalOf(
    { isRepeatable, refId, form }: Sending,
    { status, headers }: Response,
    text: string,
  ): Failure {
    const error = problemOf(status, text, headers.get('x-request-id') ?? undefined, refId);
    const canRepeat =
      NOT_EXECUTED.has(status) ||
      (TEMPORARY.has(status) && isRepeatable) ||
      (status === 401 && form === undefined && tokens !== undefined);
    const delayMs = status === 401 ? 0 : requestedDelayMs(error, headers);
    return { error, canRepeat, ...(delayMs === undefined ? {} : { delayMs }) };
  }

  async function repeat<Answer>(
    sending: Sending,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const waitMs = sending.waitMs ?? 0;
    const endMs = performance.now() + waitMs + (sending.deadlineMs ?? options.deadlineMs ?? DEADLINE_MS);
    const attemptMs = waitMs + (options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS);
    let isUnknown = false;
    let wasUnauthenticated = false;
    for (let count = 1; ; count += 1) {
      let result = await attempt(sending, Math.min(attemptMs, endMs - performance.now()));
      if ('response' in result) {
        try {
          return await read(result.response);
        } catch (error) {
          sending.signal?.throwIfAborted();
          result = { error, canRepeat: sending.isRepeatable };
        }
      }
      const { error, canRepeat, delayMs = backoffMs(count) } = result;
      const is401 = error instanceof FerryProblem && error.status === 401;
      isUnknown ||= !(error instanceof FerryProblem) || error.status === 502 || error.status === 504;
      if (!canRepeat || (is401 && wasUnauthenticated) || performance.now() + delayMs >= endMs) {
        throw isUnknown && !isDecided(error) ? new NoAnswer(sending.name, sending.refId, error) : error;
      }
      wasUnauthenticated ||= is401;
      await pause(delayMs, sending.signal);
    }
  }

  const json = (sending: Sending): Promise<unknown> =>
    repeat(sending, async (response) => JSON.parse(await response.text()) as unknown);
  return { json, open: (sending) => repeat(sending, async (response) => response) };

  function tokensOf({ token, clientId, clientSecret, scope }: FerryOptions): TokenSource | undefined {
    if (token !== undefined) return { get: async () => token(), discard: () => undefined };
    if (clientId === undefined || clientSecret === undefined) return undefined;
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope !== undefined) form.set('scope', scope);
    const authorization = basicCredentials(clientId, clientSecret);
    const request = { name: 'The token request', method: 'POST', path: '/oauth2/token', form, authorization };
    return createTokenSource(async () => (await json({ ...request, isRepeatable: true })) as IssuedToken);
  }
}

/** The service looked at the request and refused it, so that an equal one before it was not executed either. */
function isDecided(error: unknown): boolean {
  if (!(error instanceof FerryProblem) || error instanceof TokenRefused) return false;
  return error.status < 500 && error.status !== 401 && !NOT_EXECUTED.has(error.status);
}
