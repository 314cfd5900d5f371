import { LIMITS } from '../limits.ts';

/**
 * Errors as users see them (RFC 9457). This table is the only source of slugs, statuses and titles: the HTTP answers, the
 * OpenAPI document and the pages under /problems are generated from it.
 */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    title: 'Invalid request',
    help: 'A field of the body, path or query is invalid. `meta.errors` lists every error with a JSON pointer to the field. Correct them and send the request again. Nothing was written.',
  },
  'exceeds-precision': {
    status: 400,
    title: 'Amount exceeds the precision of the asset',
    help: 'The asset has `meta.max_decimals` decimals. Amounts are never rounded: send an amount with at most that many.',
  },
  unauthenticated: {
    status: 401,
    title: 'Authentication required',
    help: 'Send `Authorization: Bearer <token>`. Get a token at `/oauth2/token` with the client credentials grant; tokens are valid for one hour. People sign in at `/signin` instead, and their browser sends a cookie. Adapters of rails sign their requests instead, with the secret of the rail.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'Insufficient scope',
    help: '`meta.required` is the scope that the operation requires, `meta.found` the scopes of the token. Request a token with that scope; the client must be allowed to have it.',
  },
  'step-up-required': {
    status: 403,
    title: 'Recent authentication required',
    help: 'The operation is sensitive. You are signed in, but proved who you are more than `meta.max_age_seconds` ago. Confirm it again with your passkey or at your OpenID provider, at `/signin/me`, then retry.',
  },
  'insufficient-funds': {
    status: 403,
    title: 'Insufficient funds',
    help: '`meta` has the profile, the asset, the available and the needed amount. The `ref_id` is not used up: the same request succeeds once the funds are available.',
  },
  'fee-expired': {
    status: 403,
    title: 'Guaranteed fee expired',
    help: 'A guaranteed fee is valid until its `expires_at`. Request a new one and use its id.',
  },
  'policy-refused': {
    status: 403,
    title: 'Refused by a policy',
    help: 'A limit of a withdrawal policy, of the operator or your own, does not allow the withdrawal. `meta` names the policy and the rule, and has the limit, what is used of it and what was requested. The `ref_id` is not used up: the same request succeeds once the limit allows it.',
  },
  forbidden: {
    status: 403,
    title: 'Not permitted',
    help: 'The resource is visible to you, but only another party may do this, or the profile or identity is disabled or frozen.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    help: 'The id is unknown or belongs to another customer. Both get the same answer, so that existence is not disclosed.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    help: 'The `Allow` header lists the methods that the path supports.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request timeout',
    help: 'The request did not arrive completely in time. Nothing was executed; send it again.',
  },
  'already-exists': {
    status: 409,
    title: 'Already exists with different values',
    help: 'The `ref_id` was used for a different request, or the member exists with other roles. `meta.existing` is the existing record, `meta.differs` names the fields that differ. An equal request gets the existing record instead.',
  },
  'invalid-state': {
    status: 409,
    title: 'Invalid state',
    help: 'The current state of the resource does not allow this operation. `meta.status` is that state.',
  },
  'digest-mismatch': {
    status: 409,
    title: 'The request is not the one that you have seen',
    help: 'A vote names the `digest` of the request that the voter has seen, and the request has another one. Nothing was executed. Read the request again, and vote with its digest.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Payload too large',
    help: 'A body may have at most 256 KiB, a bulk of transfers 1 MiB, and a statement for reconciliation 4 MiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send `Content-Type: application/json` (the token endpoint takes a form instead), and no `Content-Encoding`: bodies are not compressed.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Request headers too large',
    help: 'The path and the headers of a request may have at most 16 KiB together.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    help: 'The client or its customer exceeds its rate, or has too many requests in flight. Nothing was executed. Wait for the number of seconds in `Retry-After`, or of milliseconds in `meta.retry_after_ms`, then retry. The headers `RateLimit-Policy` and `RateLimit` of every answer show the budgets and what is left of them. The operator can raise them.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: 'An error in the service. The log has it under the `X-Request-Id` of the response. A retry with the same `ref_id` is safe.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    help: 'The database is unavailable, the service is overloaded or is shutting down. Wait for the number of seconds in `Retry-After`, or of milliseconds in `meta.retry_after_ms`, and retry with the same `ref_id`: nothing is executed twice. If the request had no `ref_id` and its outcome is not known, check whether it was executed before you repeat it.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>;

export type ProblemSlug = keyof typeof PROBLEMS;
export type FieldError = { pointer: string; message: string };

/** An error for the user. Routes throw it; pure rules return it as a refusal. */
export class Problem extends Error {
  readonly slug: ProblemSlug;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    slug: ProblemSlug,
    detail: string,
    meta: Record<string, unknown> = {},
    retryAfterSeconds?: number,
  ) {
    super(detail);
    this.name = 'Problem';
    this.slug = slug;
    this.meta = meta;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return PROBLEMS[this.slug].status;
  }
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerPart(name: unknown): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** All invalid fields at once. */
export function invalidRequest(errors: readonly FieldError[]): Problem {
  const shown = errors.slice(0, LIMITS.errorsShownMax);
  const named = shown.map((error) => `${error.pointer || 'the body'} ${error.message}`);
  const more = errors.length > shown.length ? `; and ${errors.length - shown.length} more` : '';
  return new Problem('invalid-request', `${named.join('; ')}${more}.`, { errors: shown });
}

export function invalidField(pointer: string, message: string): Problem {
  return invalidRequest([{ pointer, message }]);
}

export function notFound(resource: string, id: string): Problem {
  return new Problem('not-found', `There is no ${resource} with the id ${id}.`, { resource, id });
}

export function unavailable(detail: string, retryAfterSeconds = 1): Problem {
  return new Problem('unavailable', detail, {}, retryAfterSeconds);
}
