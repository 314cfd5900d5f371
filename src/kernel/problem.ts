import { LIMITS } from '../limits.ts';

/**
 * What can go wrong, as users see it (RFC 9457). This table is the only source of slugs, statuses and titles:
 * the HTTP answers, the OpenAPI document and the pages under /problems are made from it.
 */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    title: 'The request is not valid',
    help: 'Something in the body, path or query breaks a rule. `meta.errors` lists every broken rule with a JSON pointer to the field; correct them and send the request again. Nothing was written.',
  },
  'exceeds-precision': {
    status: 400,
    title: 'The amount has more decimals than the asset',
    help: 'Each asset has a number of decimals, `meta.max_decimals`. Amounts are never rounded: send one that the asset can express.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid access token is required',
    help: 'Send `Authorization: Bearer <token>`. Get a token at `/oauth2/token` with the client credentials grant; tokens live for one hour.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'The access token lacks the scope for this operation',
    help: '`meta.required` is the scope that the operation needs, `meta.found` what the token has. Ask for a token with that scope, or have the client allowed it.',
  },
  'insufficient-funds': {
    status: 403,
    title: 'The balance is too small',
    help: '`meta` names the profile and the asset, what is available and what is needed. The `ref_id` is not used up: the same request succeeds once the funds are there.',
  },
  'fee-expired': {
    status: 403,
    title: 'The guaranteed fee has expired',
    help: 'A guaranteed fee is valid until its `expires_at`. Ask for a new one and use its id.',
  },
  forbidden: {
    status: 403,
    title: 'This is not yours to do',
    help: 'You can see the resource, but the operation belongs to another party, or the profile or identity is disabled.',
  },
  'not-found': {
    status: 404,
    title: 'There is no such resource',
    help: 'The id is unknown, or belongs to another customer: the answer is the same, so that existence does not leak.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This path does not know that method',
    help: 'The `Allow` header lists the methods that the path knows.',
  },
  'already-exists': {
    status: 409,
    title: 'It exists already, and differs',
    help: 'The `ref_id` was used for a different request, or the member exists with other roles. `meta.existing` is the first record, `meta.differs` names what differs. An equal request is answered with the first record instead.',
  },
  'invalid-state': {
    status: 409,
    title: 'The resource is not in a state that allows this',
    help: '`meta.status` is the state that it is in.',
  },
  'payload-too-large': {
    status: 413,
    title: 'The body is too large',
    help: 'Bodies may have at most 256 KiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The content type is not supported',
    help: 'Send `Content-Type: application/json` (the token endpoint takes a form instead).',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for as many seconds as `Retry-After` says, then send the request again.',
  },
  internal: {
    status: 500,
    title: 'Something is wrong on our side',
    help: 'A fault in the service; it is in the log under the `X-Request-Id` of the answer. Repeating the request with the same `ref_id` is safe.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer now',
    help: 'The database is away, the queue is full or the service is stopping. Wait for as many seconds as `Retry-After` says and repeat the request with the same `ref_id`: nothing is done twice. A request without a `ref_id` whose outcome is not known is not to be repeated before you have looked.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>;

export type ProblemSlug = keyof typeof PROBLEMS;
export type FieldError = { pointer: string; message: string };

/** A problem on its way to the user: thrown by edges, returned by pure rules as a refusal. */
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

/** Every broken field at once. */
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
