import { LIMITS } from '../../src/limits.ts';
import { lackingAccess } from './access.ts';
import { bodyFor, chosenIds, kindOf, pathWith, recordOf } from './bases.ts';
import { BODY_MUTATIONS } from './bodies.ts';
import {
  type Choice,
  type Draft,
  expect,
  expectOdd,
  isForm,
  isRead,
  type Planning,
  requestOf,
} from './drafts.ts';
import { HEADER_MUTATIONS } from './headers.ts';
import { PATH_MUTATIONS } from './paths.ts';
import { QUERY_MUTATIONS, type QueryMaterial } from './queries.ts';
import type { Expectation } from './requests.ts';
import { valueFor } from './schema-bodies.ts';
import { COMMON_METHODS, oddTransport, RARE_METHODS } from './transport.ts';
import { jsonText } from './values.ts';

/** A mutation of one of its kinds: of the wanted one, if one is. Undefined if it does not apply to the operation. */
export type Family = (choice: Choice, planning: Planning, wanted?: string) => Draft | undefined;

/** The schema of the document decides whether a body must be refused, unless the mutation alone does. */
function bodyStatus(
  { operation }: Choice,
  { description }: Planning,
  body: Buffer | undefined,
): number | undefined {
  if (body === undefined) return operation.body === undefined ? undefined : 400;
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return 400;
  }
  if (operation.body !== undefined)
    return description.bodyFaults(operation, value).length === 0 ? undefined : 400;
  return JSON.stringify(value) === '{}' ? undefined : 400;
}

/** A valid body, or one that is made from the schema; nothing where there is no body. */
function baseBody({ operation, random }: Choice, { world }: Planning): unknown {
  if (operation.body === undefined) return {};
  if (random.chance(0.7)) return bodyFor(operation, world.caller, random);
  const owner = random.chance(0.9) ? world.caller : world.victim;
  const idFor = (name: string): string => recordOf(owner.records, kindOf(name, operation), random);
  return valueFor(operation.body.schema, '', { random, idFor });
}

export const fromSchema: Family = (choice, planning) => {
  const { operation, random } = choice;
  if (operation.body === undefined) return undefined;
  const idFor = (name: string): string =>
    recordOf(planning.world.caller.records, kindOf(name, operation), random);
  const body = Buffer.from(jsonText(valueFor(operation.body.schema, '', { random, idFor })));
  const status = bodyStatus(choice, planning, body);
  return {
    kind: 'made from the schema',
    request: requestOf(choice, planning, { body }),
    expected: expect(choice, status),
  };
};

/** A body where the method has no use for one: the next request on the connection must not be mistaken for it. */
export const unexpectedBody: Family = (choice, planning) => {
  const { operation, random } = choice;
  if (operation.method !== 'GET') return undefined;
  const text = random.pick(['{}', 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n', ' '.repeat(5_000)]);
  const request = requestOf(choice, planning, { body: Buffer.from(text) });
  return { kind: 'unexpected body', request, expected: expect(choice) };
};

/** Statements of banks and bulks are larger than other bodies. */
const LARGER: Readonly<Record<string, number>> = {
  importStatement: LIMITS.statementBytesMax,
  createPlatformTransfers: LIMITS.bulkBodyBytesMax,
};
const bytesMaxOf = (operationId: string): number => LARGER[operationId] ?? LIMITS.requestBodyBytesMax;

export const inBody: Family = (choice, planning, wanted) => {
  const { operation, random } = choice;
  if (isRead(operation)) return undefined;
  const kind = wanted ?? random.pick(Object.keys(BODY_MUTATIONS));
  const value = baseBody(choice, planning);
  const base = { value, schema: operation.body?.schema ?? {}, bytesMax: bytesMaxOf(operation.id) };
  const mutated = BODY_MUTATIONS[kind]!(base, random);
  if (mutated === undefined || mutated.bytes.length > base.bytesMax + 1_000_000) return undefined;
  const request = requestOf(choice, planning, { body: mutated.bytes });
  const isEmpty = mutated.bytes.length === 0;
  // An operation without a body accepts an empty one.
  const status =
    isEmpty && operation.body === undefined
      ? undefined
      : (mutated.refusedWith ?? bodyStatus(choice, planning, mutated.bytes));
  const chunkBytes =
    random.chance(0.1) && mutated.bytes.length < 10_000 ? random.pick([1, 7, 1_000]) : undefined;
  return {
    kind,
    request: chunkBytes === undefined ? request : { ...request, chunkBytes },
    expected: expect(choice, status),
  };
};

function materialOf({ operation, random }: Choice, { world }: Planning): QueryMaterial {
  const idOf = (owner: 'caller' | 'victim') => (name: string) =>
    recordOf(world[owner].records, kindOf(name, operation), random);
  return {
    cursors: { own: world.caller.cursors, foreign: world.victim.cursors },
    ownId: idOf('caller'),
    foreignId: idOf('victim'),
    unknownId: (name) => random.idLike(idOf('victim')(name)),
  };
}

export const inQuery: Family = (choice, planning, wanted) => {
  const { operation, random } = choice;
  const parameters = operation.parameters.filter((one) => one.in === 'query');
  const kind = wanted ?? random.pick(Object.keys(QUERY_MUTATIONS));
  const query = QUERY_MUTATIONS[kind]!(parameters, operation.path, random, materialOf(choice, planning));
  if (query === undefined) return undefined;
  // Reads have parameters of their own; what they must refuse is not known here, except for names that no operation has.
  const isUnknown = kind === 'unknown parameter' || kind === 'huge query';
  const isEmpty = /^[&=]*$/.test(query) || query.startsWith('#');
  const isCertain = operation.scopes.length > 0 && (isUnknown || !isRead(operation)) && !isEmpty;
  return {
    kind,
    request: requestOf(choice, planning, { query }),
    expected: expect(choice, isCertain ? 400 : undefined),
  };
};

export const inPath: Family = (choice, planning, wanted) => {
  const { operation, random } = choice;
  const kind = wanted ?? random.pick(Object.keys(PATH_MUTATIONS));
  const ids = chosenIds(operation, planning.world.caller, random);
  const valid = pathWith(operation, ids);
  const path = PATH_MUTATIONS[kind]!(valid, random.pick(Object.values(ids)), random);
  if (path === undefined || path === valid) return undefined;
  const request = requestOf(choice, planning, { path });
  const parts = path.slice(1).split('/');
  // The router refuses longer ones before anybody looks at the token.
  const isOfOperation = kind === 'malformed id' && parts.every((part) => part !== '' && part.length < 200);
  if (isOfOperation) return { kind, request, expected: expect(choice, [400, 404]) };
  // Pages that need no token.
  const isOther = kind === 'other path';
  const expected = isOther ? { refused: false, mayWrite: false } : expectOdd(choice);
  return { kind, request, oddPath: true, expected };
};

export const inHeaders: Family = (choice, planning, wanted) => {
  const { operation, random } = choice;
  const kind = wanted ?? random.pick(Object.keys(HEADER_MUTATIONS));
  const request = requestOf(choice, planning);
  const mutated = HEADER_MUTATIONS[kind]!(request.body, random);
  if (mutated === undefined) return undefined;
  const { contentType, headers, body = request.body, refusedWith } = mutated;
  const kept =
    contentType === undefined ? request.headers : request.headers.filter(([name]) => name !== 'Content-Type');
  const typed = typeof contentType === 'string' ? [['Content-Type', contentType] as const] : [];
  const changed = {
    ...request,
    headers: [...kept, ...typed, ...headers],
    ...(body === undefined ? {} : { body }),
  };
  // Headers are looked at before the token is.
  const isSure = refusedWith !== undefined && !isRead(operation);
  const expected: Expectation = isSure
    ? {
        refused: true,
        statuses: [
          ...refusedWith,
          ...(choice.access.refusedWith === undefined ? [] : [choice.access.refusedWith]),
        ],
        mayWrite: false,
      }
    : { ...expectOdd(choice) };
  return { kind, request: changed, oddPath: true, expected };
};

/** The rest of such a request is refused, or only reads: what is odd about it must not make it succeed. */
export const inTransport: Family = (choice, planning, wanted) => {
  const { operation, random } = choice;
  const isHarmless = isRead(operation) || isForm(operation) || choice.access.refusedWith !== undefined;
  const access = isHarmless ? choice.access : lackingAccess(planning.world.access, operation.scopes, random);
  const request = requestOf({ ...choice, access }, planning);
  const { name, keepsAnswer, statuses, ...raw } = oddTransport(request, planning.host, random, wanted);
  const expected: Expectation =
    keepsAnswer === true && access.refusedWith !== undefined
      ? expect({ ...choice, access })
      : { refused: !isRead(operation), mayWrite: false, ...(statuses && { statuses, refused: true }) };
  return { kind: name, access: access.name, request, raw, oddPath: true, expected };
};

export const inMethod: Family = (choice, planning) => {
  const { operation, random } = choice;
  const known = planning.description.operations
    .filter(({ path }) => path === operation.path)
    .map(({ method }) => method);
  const others = [...COMMON_METHODS, ...RARE_METHODS].filter((method) => !known.includes(method));
  const method = random.chance(0.1) && known.includes('GET') ? 'HEAD' : random.pick(others);
  const { body: _, ...request } = requestOf(choice, planning);
  const isHead = method === 'HEAD';
  // The router knows the common methods only: others have no path at all.
  const statuses = COMMON_METHODS.includes(method) ? [405] : [404, 405];
  return {
    kind: 'other method',
    request: { ...request, method },
    oddPath: !COMMON_METHODS.includes(method),
    expected: isHead ? { refused: false, mayWrite: false } : { refused: true, statuses, mayWrite: false },
  };
};
