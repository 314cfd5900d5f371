import type { Description } from '../support/openapi.ts';
import type { Answer, Outcome } from './connection.ts';
import { isForm } from './drafts.ts';
import type { Plan } from './requests.ts';

/** What is wrong with an answer, as sentences; empty if nothing is. All of them are pure, and each can fail: see its test. */

type Judged = Pick<Plan, 'operation' | 'request' | 'raw' | 'expected' | 'oddPath'>;

export const contentTypeOf = ({ headers }: Answer): string =>
  headers.get('content-type')?.split(';', 1)[0]?.trim() ?? '';

/** The body, if it is JSON; undefined if it is not, which the document then objects to. */
export function jsonOf(answer: Answer): any {
  if (!/^application\/([a-z.]+\+)?json$/.test(contentTypeOf(answer))) return undefined;
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A refusal that says to come back later: the request is sent again, and nothing else is concluded from it. */
export function isAdmissionRefusal(answer: Answer): boolean {
  if (answer.status !== 503 && answer.status !== 429) return false;
  return /^[1-9][0-9]*$/.test(answer.headers.get('retry-after') ?? '') && jsonOf(answer) !== undefined;
}

export function judgeOutcome({ raw }: Judged, outcome: Outcome): string[] {
  if ('failure' in outcome) {
    const isFine =
      raw?.mayGoUnanswered === true && (outcome.failure === 'closed' || outcome.failure === 'reset');
    return isFine ? [] : [`${outcome.failure}: ${outcome.detail}`];
  }
  const answers = 1 + outcome.further.length;
  return answers > (raw?.answersMax ?? 1) ? [`one request got ${answers} answers`] : [];
}

export function judgeStatus({ expected }: Judged, { status }: Answer): string[] {
  if (status >= 500) return [`the status is ${status}`];
  if (expected.refused && status < 400) return [`it was accepted with ${status}, and must be refused`];
  if (expected.statuses !== undefined && !expected.statuses.includes(status))
    return [`the status is ${status}, and not ${expected.statuses.join(' or ')}`];
  return [];
}

/** Whatever else is wrong with a request: an insufficient token is what is answered. */
export function judgeAccess({ expected }: Judged, answer: Answer): string[] {
  if (expected.access === undefined) return [];
  const slug = { 401: 'unauthenticated', 403: 'insufficient-scope' }[expected.access];
  const type = String(jsonOf(answer)?.type);
  return answer.status === expected.access && type.endsWith(`/problems/${slug}`)
    ? []
    : [
        `the token is not sufficient, but the answer is ${answer.status} ${type} and not ${expected.access} ${slug}`,
      ];
}

const fetchLike = (answer: Answer) => ({
  status: answer.status,
  headers: { get: (name: string) => answer.headers.get(name.toLowerCase()) ?? null },
  body: jsonOf(answer),
});

/** As the document says: for the operation, or for any problem if the path leads nowhere. */
export function judgeShape(
  { operation, request, raw, oddPath }: Judged,
  answer: Answer,
  description: Description,
): string[] {
  const { status } = answer;
  const type = contentTypeOf(answer);
  if (status < 400 && (oddPath === true || type === 'text/event-stream')) return [];
  if (request.method === 'HEAD') return [];
  if (raw === undefined && oddPath !== true)
    return description.faults(request.method, request.target.split('?', 1)[0]!, fetchLike(answer));
  if (status < 400) return [];
  // The errors of the token endpoints are those of RFC 6749.
  if (isForm(operation) && typeof jsonOf(answer)?.error === 'string') return [];
  if (type !== 'application/problem+json')
    return [`the refusal is ${type || 'without a type'}, and no problem document`];
  return description.problemFaults(fetchLike(answer).body, status);
}

const LEAKS: Readonly<Record<string, RegExp>> = {
  'a stack trace': /\n\s+at .+|\bat (?:async )?[\w.<>]+ \(/,
  'a path of the machine': /node_modules|\/(?:src|home|root|tmp|var|usr)\/|\.[jt]s:\d+/,
  SQL: /\b(?:select\b.+\bfrom|insert into|update .+ set|delete from|where .+ =)\b/i,
  'an error of the database':
    /violates|duplicate key|SQLSTATE|syntax error at|relation "|invalid input syntax|pg_/,
  'an error of the runtime':
    /ECONN|EPIPE|ENOENT|TypeError|RangeError|Cannot read propert|is not a function|undefined/,
  'a key': /PRIVATE KEY|"d":"|whsec_/,
};

/** `secrets` are texts that no answer to this caller may contain, unless the request itself contained them. */
export function judgeLeaks(
  answer: Answer,
  sent: Buffer,
  secrets: Readonly<Record<string, string>>,
): string[] {
  const text = answer.body.toString('utf8');
  const echoed = answer.status >= 400 ? sent.toString('utf8') : '';
  const leaks = Object.entries(secrets)
    .filter(([, secret]) => text.includes(secret) && !sent.includes(secret))
    .map(([name]) => `the answer contains ${name}`);
  if (answer.status < 400) return leaks;
  for (const [name, pattern] of Object.entries(LEAKS)) {
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined && !echoed.includes(found))
      leaks.push(`the answer contains ${name}: ${found.slice(0, 100)}`);
  }
  return leaks;
}

/** Headers that differ from one answer to the next, whatever the request. */
const INCIDENTAL = /^(date|x-request-id|retry-after|ratelimit.*|connection|keep-alive)$/;

function comparable({ status, headers, body }: Answer, id: string): string {
  const kept = [...headers]
    .filter(([name]) => !INCIDENTAL.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
  return JSON.stringify([status, kept, body.toString('latin1').replaceAll(id, '<id>')]);
}

/** Two requests that differ in one id only, of another customer and of nobody, must get the same answer. */
export function judgeTwins(
  foreign: { readonly answer: Answer; readonly id: string },
  unknown: { readonly answer: Answer; readonly id: string },
): string[] {
  const [one, other] = [comparable(foreign.answer, foreign.id), comparable(unknown.answer, unknown.id)];
  if (one === other) return [];
  return [
    `an id of another customer is answered with ${one.slice(0, 600)}, and an unknown one with ${other.slice(0, 600)}`,
  ];
}
