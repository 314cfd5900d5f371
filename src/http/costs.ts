import type { FastifyRequest } from 'fastify';
import type { Route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';

/** What requests cost, in points of the rate limits: at most so much before they are executed, and how much afterwards. */

const DIGITS = /^[0-9]{1,4}$/;

function rowsAsked(query: unknown): number {
  const { limit } = query as { limit?: unknown };
  if (typeof limit !== 'string' || !DIGITS.test(limit)) return LIMITS.pageLimitDefault;
  return Math.min(Number(limit), LIMITS.pageLimitMax);
}

function bodyPoints({ headers }: FastifyRequest): number {
  const length = headers['content-length'];
  if (length !== undefined) return Math.floor(Number(length) / LIMITS.bodyBytesPerPoint) || 0;
  return headers['transfer-encoding'] === undefined ? 0 : LIMITS.chunkedBodyPoints;
}

/** Before anything of the request is read but its head. */
export function pointsOf({ query, method, streams }: Route): (request: FastifyRequest) => number {
  if (streams !== undefined) return () => LIMITS.streamPoints;
  if (method !== 'GET') return (request) => 1 + bodyPoints(request);
  const { properties } = (query ?? {}) as { properties?: object };
  if (properties === undefined || !('limit' in properties)) return () => 1;
  return (request) => 1 + Math.ceil(rowsAsked(request.query) / LIMITS.rowsPerPoint);
}

export function pointsOfAnswer(length: number): number {
  return 1 + Math.floor(length / LIMITS.answerBytesPerPoint);
}
