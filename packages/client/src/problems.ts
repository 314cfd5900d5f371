/** What the service answers instead of a result (RFC 9457). Each kind of problem is a class, so `instanceof` tells them apart. */
export class FerryProblem extends Error {
  /** The kind of problem, such as `insufficient-funds`: the last part of `type`. */
  readonly slug: string;
  readonly status: number;
  readonly title: string;
  /** The values of the message, structured. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The log of the service has details under this id. */
  readonly requestId: string | undefined;
  /** The idempotency key of the request, if the operation has one: a repeated call with this `ref_id` is executed once. */
  readonly refId: string | undefined;

  constructor(body: ProblemBody, requestId: string | undefined, refId: string | undefined) {
    super(body.detail);
    this.name = new.target.name;
    this.slug = slugOf(body);
    this.status = body.status;
    this.title = body.title;
    this.meta = body.meta;
    this.requestId = requestId;
    this.refId = refId;
  }
}

export type ProblemBody = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly meta: Readonly<Record<string, unknown>>;
};

const slugOf = ({ type }: ProblemBody): string => type.slice(type.lastIndexOf('/') + 1);

export class InvalidRequest extends FerryProblem {
  /** Every error, each with a JSON pointer to its field. */
  get errors(): readonly { readonly pointer: string; readonly message: string }[] {
    return (this.meta.errors ?? []) as { pointer: string; message: string }[];
  }
}
export class ExceedsPrecision extends InvalidRequest {}
export class Unauthenticated extends FerryProblem {}
export class Forbidden extends FerryProblem {}
export class InsufficientScope extends Forbidden {}
export class InsufficientFunds extends FerryProblem {}
export class FeeExpired extends FerryProblem {}
export class PolicyRefused extends FerryProblem {}
export class StepUpRequired extends FerryProblem {}
export class NotFound extends FerryProblem {}
export class Conflict extends FerryProblem {}
export class AlreadyExists extends Conflict {}
export class InvalidState extends Conflict {}
export class DigestMismatch extends Conflict {}
export class RateLimited extends FerryProblem {}
export class Unavailable extends FerryProblem {}
export class InternalProblem extends FerryProblem {}

export const PROBLEM_CLASSES: Readonly<Record<string, typeof FerryProblem>> = {
  'invalid-request': InvalidRequest,
  'exceeds-precision': ExceedsPrecision,
  unauthenticated: Unauthenticated,
  'insufficient-scope': InsufficientScope,
  'insufficient-funds': InsufficientFunds,
  'fee-expired': FeeExpired,
  'policy-refused': PolicyRefused,
  'step-up-required': StepUpRequired,
  forbidden: Forbidden,
  'not-found': NotFound,
  'method-not-allowed': FerryProblem,
  'request-timeout': FerryProblem,
  'already-exists': AlreadyExists,
  'invalid-state': InvalidState,
  'digest-mismatch': DigestMismatch,
  'payload-too-large': FerryProblem,
  'unsupported-media-type': FerryProblem,
  'headers-too-large': FerryProblem,
  'rate-limited': RateLimited,
  internal: InternalProblem,
  unavailable: Unavailable,
};

/**
 * No usable answer arrived before the deadline. Whether the request was executed is not known: call again with `ref_id` set to
 * `refId`, and the service answers with what the first request created, or executes it now.
 */
export class NoAnswer extends Error {
  readonly refId: string | undefined;

  constructor(what: string, refId: string | undefined, cause: unknown) {
    const advice =
      refId === undefined
        ? 'Its outcome is not known: check before you repeat it.'
        : `Its outcome is not known: repeat it with the ref_id ${refId}.`;
    super(`${what} got no answer. ${advice}`, { cause });
    this.name = 'NoAnswer';
    this.refId = refId;
  }
}

/** The token endpoint refused the credentials or the scope; `slug` is the code of RFC 6749, such as `invalid_client`. */
export class TokenRefused extends FerryProblem {}

/** The problem of an answer that is not a success; an answer that a proxy wrote gets one of its own. */
export function problemOf(status: number, text: string, requestId?: string, refId?: string): FerryProblem {
  const body = parsed(text);
  const type = textOf(body.type) ?? textOf(body.error);
  const detail = textOf(body.detail) ?? textOf(body.error_description);
  const problem = {
    type: type ?? 'about:blank',
    title: textOf(body.title) ?? '',
    status,
    detail: detail ?? `The answer has the status ${status} and is not from Ferry: ${text.slice(0, 200)}`,
    meta: (body.meta ?? {}) as ProblemBody['meta'],
  };
  const Kind = textOf(body.error) === undefined ? PROBLEM_CLASSES[slugOf(problem)] : TokenRefused;
  return new (Kind ?? FerryProblem)(problem, requestId, refId);
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
