import { STATUS_CODES } from 'node:http';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { problemBody } from './problems.ts';

/** Answers to bytes that never become a request of the app, as they go over the wire. The connection is closed after them. */

function wireAnswer(problem: Problem, publicUrl: string, more: readonly string[] = []): string {
  const { status } = problem;
  const body = JSON.stringify(problemBody(problem, publicUrl));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    `x-request-id: ${newId()}`,
    'connection: close',
    ...more,
    '',
    body,
  ].join('\r\n');
}

/** The message of the parser is not passed on: it may quote the bytes. */
function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers-too-large', 'The path and the headers have more than 16 KiB.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const seconds = LIMITS.requestArrivalMs / 1_000;
    return new Problem('request-timeout', `The request did not arrive within ${seconds} seconds.`);
  }
  return new Problem('invalid-request', 'The request is not valid HTTP.', { errors: [] });
}

export function brokenAnswer({ code }: NodeJS.ErrnoException, publicUrl: string): string {
  return wireAnswer(problemOf(code), publicUrl);
}

export function connectAnswer(publicUrl: string): string {
  const problem = new Problem(
    'method-not-allowed',
    'This service is not a proxy: CONNECT is not supported.',
    {
      allow: [],
    },
  );
  return wireAnswer(problem, publicUrl, ['allow: ']);
}
