import type { FastifyError, FastifyReply } from 'fastify';
import { NotAdmitted } from '../database/admission.ts';
import { failureOf } from '../database/failure.ts';
import {
  type FieldError,
  invalidField,
  invalidRequest,
  PROBLEMS,
  Problem,
  pointerPart,
  unavailable,
} from '../kernel/problem.ts';
import { patternMeaning } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';

/** Every RFC 9457 response is created here. */
export function problemBody(problem: Problem, publicUrl: string): Record<string, unknown> {
  return {
    type: `${publicUrl}/problems/${problem.slug}`,
    title: PROBLEMS[problem.slug].title,
    status: problem.status,
    detail: problem.message,
    meta: problem.meta,
  };
}

const REALM = 'realm="ferry"';

/** RFC 6750 section 3: no error code when the caller sent no token at all. */
function challengeOf({ slug, meta }: Problem): string {
  if (slug === 'insufficient-scope')
    return `Bearer ${REALM}, error="insufficient_scope", scope="${String(meta.required)}"`;
  // Adapters of rails sign their requests instead.
  if (typeof meta.scheme === 'string') return meta.scheme;
  return typeof meta.error === 'string' ? `Bearer ${REALM}, error="${meta.error}"` : `Bearer ${REALM}`;
}

/** The headers that belong to a problem. */
export function problemHeaders(problem: Problem): Record<string, string> {
  const { slug, status, meta, retryAfterSeconds } = problem;
  return {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...((status === 401 || slug === 'insufficient-scope') && { 'www-authenticate': challengeOf(problem) }),
    // RFC 9110 section 15.5.6: with every 405, even if there is none.
    ...(slug === 'method-not-allowed' && { allow: (meta.allow as readonly string[]).join(', ') }),
    // RFC 9110 section 12.5.3: what the body may be encoded with.
    ...(typeof meta.accept_encoding === 'string' && { 'accept-encoding': meta.accept_encoding }),
  };
}

export function sendProblem(reply: FastifyReply, problem: Problem, publicUrl: string): FastifyReply {
  for (const [name, value] of Object.entries(problemHeaders(problem))) reply.header(name, value);
  return reply
    .code(problem.status)
    .type('application/problem+json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem, publicUrl));
}

export type ValidationError = NonNullable<FastifyError['validation']>[number];

/** One validation error of a schema, as a pointer and a message. */
function fieldError(error: ValidationError, where: string): FieldError {
  const { keyword, instancePath, params, message } = error as ValidationError & {
    params: Record<string, unknown>;
  };
  const base =
    where === 'body' ? instancePath : `/${where === 'querystring' ? 'query' : 'path'}${instancePath}`;
  const at = (name: unknown): string => `${base}/${pointerPart(name)}`;
  switch (keyword) {
    case 'required':
      return { pointer: at(params.missingProperty), message: 'is required' };
    case 'additionalProperties':
      return {
        pointer: at(params.additionalProperty),
        message: `is not a known ${where === 'body' ? 'field' : 'parameter'}`,
      };
    case 'enum':
      return { pointer: base, message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}` };
    case 'const':
      return { pointer: base, message: `must be ${String(params.allowedValue)}` };
    case 'type':
      return { pointer: base, message: `must be ${withArticle(params.type)}` };
    case 'pattern':
      return { pointer: base, message: `must ${patternMeaning(String(params.pattern))}` };
    case 'maxLength':
      return { pointer: base, message: `must have at most ${counted(params.limit, 'character')}` };
    case 'minLength':
      return { pointer: base, message: `must have at least ${counted(params.limit, 'character')}` };
    case 'minProperties':
      return { pointer: base, message: `must have at least ${counted(params.limit, 'field')}` };
    case 'maxProperties':
      return { pointer: base, message: `must have at most ${counted(params.limit, 'pair')}` };
    case 'propertyNames':
      return { pointer: base, message: `must have keys of 1 to ${LIMITS.metadataTextMax} characters` };
    case 'minItems':
      return { pointer: base, message: `must have at least ${counted(params.limit, 'item')}` };
    case 'maxItems':
      return { pointer: base, message: `must have at most ${counted(params.limit, 'item')}` };
    case 'uniqueItems':
      return { pointer: base, message: 'must not have the same value twice' };
    case 'minimum':
      return { pointer: base, message: `must be at least ${String(params.limit)}` };
    case 'maximum':
      return { pointer: base, message: `must be at most ${String(params.limit)}` };
    case 'format':
      return { pointer: base, message: 'must be an RFC 3339 time, such as 2026-01-31T12:00:00Z' };
    default:
      return { pointer: base, message: message ?? 'is not valid' };
  }
}

/** Errors that only repeat another one: the alternatives of a choice, and what is wrong with a key. */
function isSummed(error: ValidationError): boolean {
  return ['if', 'anyOf', 'oneOf'].includes(error.keyword) || 'propertyName' in error;
}

/** The validation errors of one part of a request. */
export function shapeErrors(errors: readonly ValidationError[], where: string): FieldError[] {
  const first = errors.slice(0, LIMITS.errorsShownMax * 2);
  // A value of the wrong type is not reported again as none of the allowed values.
  const mistyped = new Set(first.filter((one) => one.keyword === 'type').map((one) => one.instancePath));
  return (
    first
      .filter((one) => one.keyword !== 'enum' || !mistyped.has(one.instancePath))
      // Those that only summarise errors in the same list are left out.
      .filter((one) => !isSummed(one) || errors.length === 1)
      .map((one) => fieldError(one, where))
  );
}

function counted(count: unknown, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}

function withArticle(type: unknown): string {
  return /^[aeio]/.test(String(type)) ? `an ${String(type)}` : `a ${String(type)}`;
}

export const headersTooLarge = (): Problem =>
  new Problem('headers-too-large', 'The path and the headers have more than 16 KiB.');

/** Does not mention the database, about which callers can do nothing. */
export const UNAVAILABLE =
  'The service is temporarily unavailable. Nothing was executed; retry with the same ref_id.';

const BY_FASTIFY_CODE: Record<string, (bodyBytesMax: number) => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (bodyBytesMax) =>
    new Problem('payload-too-large', `The body is larger than ${bodyBytesMax / 1_024} KiB.`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Problem('unsupported-media-type', 'The body must be sent as Content-Type: application/json.'),
};

/** Turns anything that was thrown into a problem. Unexpected errors become `internal`, without their message. */
export function problemFrom(error: unknown, bodyBytesMax: number = LIMITS.requestBodyBytesMax): Problem {
  if (error instanceof Problem) return error;
  const fastifyError = error as FastifyError;
  if (fastifyError.validation !== undefined) {
    return invalidRequest(shapeErrors(fastifyError.validation, fastifyError.validationContext ?? 'body'));
  }
  const known = BY_FASTIFY_CODE[fastifyError.code];
  if (known !== undefined) return known(bodyBytesMax);
  if (
    typeof fastifyError.statusCode === 'number' &&
    fastifyError.statusCode < 500 &&
    fastifyError.code?.startsWith('FST_')
  ) {
    return invalidRequest([{ pointer: '', message: fastifyError.message }]);
  }
  // The framework sets this status: the connection ended before the body was complete. Nobody reads this answer.
  if (fastifyError.code === 'ECONNRESET' && fastifyError.statusCode === 400)
    return invalidField('', 'has not arrived completely');
  if (error instanceof NotAdmitted) return unavailable(`${error.message} Retry with the same ref_id.`);
  const failure = failureOf(error);
  if (failure === 'unavailable' || failure === 'timeout') return unavailable(UNAVAILABLE);
  return new Problem(
    'internal',
    'An unexpected error occurred. The log contains it under this X-Request-Id.',
  );
}
