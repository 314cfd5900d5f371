import { describe, expect, it } from 'vitest';
import { packLine, packText } from '../../src/events/pack.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Operation, readDescription } from '../support/openapi.ts';
import { type Answer, readAnswer } from './connection.ts';
import {
  isAdmissionRefusal,
  judgeAccess,
  judgeLeaks,
  judgeOutcome,
  judgeShape,
  judgeStatus,
  judgeTwins,
} from './oracles.ts';
import type { Expectation, Raw } from './requests.ts';
import { byRequests, decodeChanges, isLater } from './writes.ts';

/** Each oracle accepts what is right, and objects to a variant that is wrong in one thing. */
const BASE = 'http://ferry.example/problems';
const problem = (slug: string, status: number) => ({
  type: `${BASE}/${slug}`,
  title: 'Title',
  status,
  detail: 'Detail.',
  meta: {},
});
const problemResponse = (slug: string, status: number) => ({
  content: {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: { [slug]: { value: problem(slug, status) } },
    },
  },
});

const description = readDescription({
  paths: {
    '/v2/things/{id}': {
      get: {
        operationId: 'getThing',
        security: [{ oauth2: ['thing:read'] }],
        parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['id'],
                  additionalProperties: false,
                  properties: { id: { type: 'string' } },
                },
              },
            },
          },
          400: problemResponse('invalid-request', 400),
          404: problemResponse('not-found', 404),
        },
      },
    },
  },
  components: {
    schemas: {
      Problem: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail', 'meta'],
        additionalProperties: false,
        properties: {
          type: { type: 'string' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          meta: { type: 'object' },
        },
      },
    },
  },
});
const operation: Operation = description.operation('getThing');

function answerOf(status: number, body: unknown, more: Record<string, string> = {}): Answer {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  const headers = { 'content-type': `${type}; charset=utf-8`, ...more };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: new Map(Object.entries(headers)), body: Buffer.from(text) };
}

function plan(expected: Partial<Expectation> = {}, more: { raw?: Raw; oddPath?: boolean } = {}) {
  return {
    operation,
    request: { method: 'GET', target: '/v2/things/1?x=1', headers: [] },
    expected: { refused: false, mayWrite: false, ...expected },
    ...more,
  };
}

const found = answerOf(200, { id: '1' });
const notFound = answerOf(404, problem('not-found', 404));

describe('the outcome', () => {
  const answered = { answer: found, further: [] };

  it('must be one answer', () => {
    expect(judgeOutcome(plan(), answered)).toEqual([]);
    expect(judgeOutcome(plan(), { answer: found, further: [found] })).toEqual(['one request got 2 answers']);
  });

  it.each(['no answer', 'reset', 'closed', 'garbled'] as const)('must not be: %s', (failure) => {
    expect(judgeOutcome(plan(), { failure, detail: 'why' })).toEqual([`${failure}: why`]);
  });

  it('may be a closed connection where HTTP allows it, but neither silence nor garbage', () => {
    const raw: Raw = { bytes: Buffer.alloc(0), mayGoUnanswered: true };
    expect(judgeOutcome(plan({}, { raw }), { failure: 'closed', detail: '' })).toEqual([]);
    for (const failure of ['no answer', 'garbled'] as const)
      expect(judgeOutcome(plan({}, { raw }), { failure, detail: '' })).toHaveLength(1);
  });
});

describe('the status', () => {
  it('is never a 5xx', () => {
    for (const status of [500, 502, 503])
      expect(judgeStatus(plan(), answerOf(status, problem('internal', status)))).toHaveLength(1);
  });

  it('of a request that must be refused is one of those that are expected', () => {
    expect(judgeStatus(plan({ refused: true }), notFound)).toEqual([]);
    expect(judgeStatus(plan({ refused: true }), found)).toHaveLength(1);
    expect(judgeStatus(plan({ refused: true, statuses: [404] }), notFound)).toEqual([]);
    expect(judgeStatus(plan({ refused: true, statuses: [400] }), notFound)).toHaveLength(1);
  });

  it('is retried only if the service says when', () => {
    expect(isAdmissionRefusal(answerOf(503, problem('unavailable', 503), { 'retry-after': '1' }))).toBe(true);
    expect(isAdmissionRefusal(answerOf(429, problem('rate-limited', 429), { 'retry-after': '2' }))).toBe(
      true,
    );
    expect(isAdmissionRefusal(answerOf(503, problem('unavailable', 503)))).toBe(false);
    expect(isAdmissionRefusal(answerOf(503, 'oops', { 'retry-after': '1' }))).toBe(false);
    expect(isAdmissionRefusal(answerOf(500, problem('internal', 500), { 'retry-after': '1' }))).toBe(false);
  });
});

describe('an insufficient token', () => {
  it('is all that is answered, whatever else is wrong', () => {
    const scope = answerOf(403, problem('insufficient-scope', 403));
    const forbidden = answerOf(403, problem('forbidden', 403));
    expect(judgeAccess(plan({ access: 403 }), scope)).toEqual([]);
    for (const answer of [forbidden, found, notFound, answerOf(400, problem('invalid-request', 400))])
      expect(judgeAccess(plan({ access: 403 }), answer)).toHaveLength(1);
    const unauthenticated = answerOf(401, problem('unauthenticated', 401));
    expect(judgeAccess(plan({ access: 401 }), unauthenticated)).toEqual([]);
    expect(judgeAccess(plan({ access: 401 }), scope)).toHaveLength(1);
    expect(judgeAccess(plan(), notFound)).toEqual([]);
  });
});

describe('the shape', () => {
  const faults = (answer: Answer, more = {}): string[] => judgeShape(plan({}, more), answer, description);

  it('is that of the document', () => {
    expect(faults(found)).toEqual([]);
    expect(faults(notFound)).toEqual([]);
    for (const wrong of [
      answerOf(200, {}),
      answerOf(200, { id: 1 }),
      answerOf(200, { id: '1', more: 1 }),
      answerOf(200, '{"id":'),
      answerOf(200, { id: '1' }, { 'content-type': 'text/html' }),
      answerOf(409, problem('invalid-state', 409)),
      answerOf(404, problem('forbidden', 404)),
      answerOf(404, problem('not-found', 400)),
      answerOf(404, { ...problem('not-found', 404), stack: 'x' }),
      answerOf(404, { error: 'Not Found' }),
    ])
      expect(faults(wrong), JSON.stringify(wrong.body.toString())).not.toEqual([]);
  });

  it('of any other refusal is a problem, too', () => {
    const odd = { oddPath: true };
    expect(faults(answerOf(400, problem('invalid-request', 400)), odd)).toEqual([]);
    expect(faults(answerOf(404, problem('not-found', 404)), odd)).toEqual([]);
    for (const wrong of [
      answerOf(400, { error: 'Bad Request', message: 'Client Error', statusCode: 400 }),
      answerOf(400, problem('invalid-request', 404)),
      answerOf(400, problem('unheard-of', 400)),
      answerOf(400, problem('invalid-request', 400), { 'content-type': 'application/json' }),
      answerOf(400, '', { 'content-type': '' }),
    ])
      expect(faults(wrong, odd)).not.toEqual([]);
  });
});

describe('a refusal', () => {
  const leaks = (detail: string, sent = ''): string[] =>
    judgeLeaks(answerOf(400, { ...problem('invalid-request', 400), detail }), Buffer.from(sent), {
      'a secret': 's3cret',
    });

  it('tells nothing about the inside', () => {
    expect(leaks('/amount must be a decimal string.')).toEqual([]);
    for (const detail of [
      'Error: x\n    at handle (server.ts:1:2)',
      'see /home/ferry/data',
      'node_modules/fastify/lib/reply.js',
      'select id from transfers where id = $1',
      'insert into transfers values',
      'duplicate key value violates unique constraint "x"',
      'invalid input syntax for type uuid',
      "Cannot read properties of undefined (reading 'x')",
      'connect ECONNREFUSED 127.0.0.1:5432',
      '-----BEGIN PRIVATE KEY-----',
      'the secret s3cret',
    ])
      expect(leaks(detail), detail).not.toEqual([]);
  });

  it('may repeat what the request said', () => {
    expect(leaks('insert into x is not a known asset', 'insert into x')).toEqual([]);
    expect(leaks('s3cret', 'my s3cret')).toEqual([]);
  });

  it('and an acceptance do not contain secrets', () => {
    expect(judgeLeaks(answerOf(200, { id: 's3cret' }), Buffer.from(''), { x: 's3cret' })).toHaveLength(1);
  });
});

describe('twins', () => {
  const [mine, nobodys] = ['11111111', '22222222'];
  const about = (id: string, more: object = {}, headers = {}): Answer =>
    answerOf(404, { ...problem('not-found', 404), detail: `There is no thing ${id}.`, ...more }, headers);
  const judge = (one: Answer, other: Answer): string[] =>
    judgeTwins({ answer: one, id: mine }, { answer: other, id: nobodys });

  it('differ in the id, the request id and the time only', () => {
    const time = (value: string) => ({ date: value, 'x-request-id': value });
    expect(judge(about(mine, {}, time('a')), about(nobodys, {}, time('b')))).toEqual([]);
  });

  it('must not differ in the status, a header or the body', () => {
    const forbidden = answerOf(403, problem('forbidden', 403));
    for (const other of [
      forbidden,
      about(nobodys, { title: 'Other' }),
      about(nobodys, {}, { allow: 'GET' }),
      about(nobodys, { meta: { status: 'SETTLED' } }),
      about('another'),
    ])
      expect(judge(about(mine), other)).toHaveLength(1);
  });
});

describe('the log of writes', () => {
  const lines = [
    'BEGIN',
    "table public.transfers: INSERT: id[uuid]:'1' memo[text]:'a\nb'",
    'table public.balances: UPDATE: available[numeric]:1',
    'table public.account_members: DELETE: (no-tuple-data)',
    'table public.event_groups: UPDATE: position[bigint]:1',
    'COMMIT',
  ];

  it('has every row, and leaves out only what background work writes', () => {
    const written = decodeChanges(lines);
    expect(written.map(({ table, verb }) => `${verb} ${table}`)).toEqual([
      'INSERT transfers',
      'UPDATE balances',
      'DELETE account_members',
      'UPDATE event_groups',
    ]);
    expect(byRequests(written)).toHaveLength(3);
    expect(byRequests(decodeChanges(['table public.event_groups: INSERT: x']))).toHaveLength(1);
  });

  it('leaves out refused attempts in the audit log, and no group with anything else', () => {
    const group = (eventCount: number, ...types: string[]) => {
      const text = types.map((type, line) => packLine(line, type, newId(), '1', '{}')).join('');
      const records = packText(text).toString('hex');
      return decodeChanges([
        `table public.event_groups: INSERT: lines[integer]:${eventCount} records[bytea]:'\\x${records}' actors[bytea]:'\\x7b7d'`,
      ]);
    };
    expect(byRequests(group(0, 'journal_entry.book.refused', 'client.create.refused'))).toEqual([]);
    expect(byRequests(group(0, 'journal_entry.book.refused', 'profile.created'))).toHaveLength(1);
    expect(byRequests(group(1, 'journal_entry.book.refused'))).toHaveLength(1);
    expect(byRequests(group(0))).toHaveLength(1);
  });

  it('tells what may be written after the answer to an earlier request', () => {
    const later = decodeChanges(['table public.webhook_deliveries: INSERT: x']);
    expect(isLater(later)).toBe(true);
    expect(isLater([...later, ...decodeChanges(lines)])).toBe(false);
    expect(byRequests(later)).toHaveLength(1);
  });

  it('is not guessed at', () => {
    expect(() => decodeChanges(['table elsewhere.x: INSERT: y'])).toThrow('elsewhere');
  });
});

describe('an answer', () => {
  const read = (text: string, isEnded = false) => readAnswer(Buffer.from(text), 'GET', isEnded);

  it('is read by its length, in chunks, or up to the end', () => {
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP')).toMatchObject({ length: 40 });
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok')).toBeUndefined();
    const chunked = read('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n');
    expect(chunked!.answer.body.toString()).toBe('ok');
    expect(read('HTTP/1.1 400 No\r\n\r\nno')).toBeUndefined();
    expect(read('HTTP/1.1 400 No\r\n\r\nno', true)!.answer.body.toString()).toBe('no');
    expect(read('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n')).toMatchObject({
      answer: { status: 204 },
    });
  });

  it('that is no HTTP is noticed', () => {
    expect(() => read('<html>\r\n\r\n')).toThrow('begins with');
    expect(() => read('HTTP/1.1 200 OK\r\nbroken\r\n\r\n')).toThrow('header line');
  });
});
