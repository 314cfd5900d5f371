import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { newId } from '../../src/kernel/id.ts';
import { createComparison } from '../support/comparison.ts';
import {
  type Belongings,
  createBelongings,
  exampleFor,
  isIdSchema,
  type Operation,
  pathFor,
  propertiesOf,
  type ValidRequest,
  validRequest,
  withDigest,
  withField,
} from '../support/openapi.ts';
import { IS_LONG } from '../support/rounds.ts';
import { expectProblem, startTestService, type TestCustomer } from '../support/service.ts';
import { ACROSS_CUSTOMERS, ANYBODYS, NOT_OUR_IDS, OF_EVERY_CALLER, PUBLIC } from './different-by-design.ts';

/**
 * Permissions and ownership, generated from the document, so that a new operation is covered as soon as it
 * exists. If a request refers to a record, test/support/openapi.ts must know how to create it, or the test of
 * that operation fails.
 */
const service = await startTestService();
afterAll(() => service.stop());
const { description } = service;

/** Alice has one of everything, Mallory too, and Carol is the partner of both in settlements. */
const carol = await service.createCustomer();
const alice = await createBelongings(service, await service.createCustomer(), carol);
const mallory = await createBelongings(service, await service.createCustomer(), carol);

const operations = description.operations.filter((operation) => !PUBLIC.includes(operation.id));
const scoped = operations.filter((operation) => !OF_EVERY_CALLER.includes(operation.id));
const tenanted = scoped.filter((operation) => !ACROSS_CUSTOMERS.includes(operation.id));
const hasPathId = (operation: Operation): boolean =>
  operation.parameters.some((one) => one.in === 'path' && isIdSchema(one.schema));
const isList = (operation: Operation): boolean =>
  operation.method === 'GET' &&
  operation.parameters.some((one) => one.name === 'limit') &&
  !operation.parameters.some((one) => one.in === 'path');
const pointer = (path: readonly (string | number)[]): string => `/${path.join('/')}`;
const idFieldsOf = (operation: Operation) =>
  propertiesOf(operation.body?.schema).filter((one) => isIdSchema(one.schema));

const withPathId = tenanted.filter(hasPathId);
const withBodyIds = tenanted.flatMap((operation) =>
  idFieldsOf(operation).map(({ path }) => ({ operation, path, name: `${operation.id} ${pointer(path)}` })),
);
const lists = tenanted.filter(isList);

const named = (list: readonly Operation[]) => list.map((operation) => [operation.name, operation] as const);

const { expectNothingChangedByTests } = await createComparison(service.database);

const requestOf = (operation: Operation): Promise<ValidRequest> => validRequest(operation, alice);

/** One of each operation, for callers who are refused: they change nothing, so all of them send the same ones. */
const requests = new Map<Operation, ValidRequest>();
for (const operation of operations) requests.set(operation, await requestOf(operation));

/** What its owner reads under the id in a path, where it can be read. */
async function readAsOwner(operation: Operation, path: string): Promise<unknown> {
  const [, kind, id] = /\/([^/]+)\/([0-9a-f-]{36})/.exec(path)!;
  const reader = tenanted.find((one) => one.method === 'GET' && one.path.endsWith(`/${kind}/{id}`));
  if (reader === undefined) {
    // Read as a part of something else: a member of its account, a destination of the list.
    const elsewhere: Record<string, string> = {
      removeAccountMember: '/v2/identity/accounts',
      removeDestination: '/v2/destinations',
      releaseOwnHeldWithdrawal: `/v2/transfer/transfers/${id}`,
      refuseOwnHeldWithdrawal: `/v2/transfer/transfers/${id}`,
    };
    expect(elsewhere).toHaveProperty(operation.id);
    return (await alice.customer.call('GET', elsewhere[operation.id]!)).body;
  }
  const answer = await alice.customer.call('GET', reader.path.replace('{id}', id!));
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('the tests here', () => {
  it('cover every operation of the document, and list those that differ by design', () => {
    const ids = description.operations.map((operation) => operation.id);
    expect([...PUBLIC, ...ACROSS_CUSTOMERS].filter((id) => !ids.includes(id))).toEqual([]);
    const open = description.operations.filter((operation) => operation.scopes.length === 0);
    expect(open.map((operation) => operation.id).sort()).toEqual([...PUBLIC, ...OF_EVERY_CALLER].sort());
    const operators = description.operations.filter(({ scopes }) =>
      scopes.some((scope) => scope.startsWith('operator:')),
    );
    expect(operators.map((operation) => operation.id).sort()).toEqual(ACROSS_CUSTOMERS);
    const covered = new Set([...withPathId, ...lists, ...withBodyIds.map((one) => one.operation)]);
    // The rest creates something new for the caller, and refers to nothing; assets are the same for all.
    const rest = tenanted.filter((operation) => !covered.has(operation)).map((operation) => operation.id);
    // Simulated deposits go to an address or a memo; tests of deposits cover their ownership. The stream is tested with
    // the feed: test/events/reads.test.ts.
    // Policies name profiles only to be compared with them: test/policies/policies-api.test.ts.
    expect(rest.sort()).toEqual([
      'changeOwnPolicy',
      'createCryptoDestinationAddress',
      'createCryptoWithdrawalFee',
      'createIdentity',
      'createWebhook',
      'dryRunOwnPolicy',
      'listAssets',
      'listDestinationForWithdrawals',
      'listLimitUtilizations',
      'simulateCryptoDeposit',
      'simulateFiatDeposit',
      'streamEvents',
    ]);
  });

  it('know every parameter and field that is an id', () => {
    const parameters = operations.flatMap((operation) =>
      operation.parameters
        .filter((one) => one.in === 'path' && !isIdSchema(one.schema))
        .map((one) => `${operation.id} ${one.name}`),
    );
    expect(parameters).toEqual([
      'getBalance asset',
      'listAccountEntries account',
      // Ids of clients are those of their issuer.
      'getClient client_id',
      'changeClient client_id',
      'disableClient client_id',
      'enableClient client_id',
      'addClientCredentials client_id',
      'removeClientCredential client_id',
      'removeClientCredential credential_id',
    ]);
    const names = withBodyIds.map((one) => one.name);
    expect(ANYBODYS.filter((name) => !names.includes(name))).toEqual([]);
    const others = operations.flatMap((operation) =>
      propertiesOf(operation.body?.schema)
        .filter(({ path, schema }) => /(^|_)ids?$/.test(String(path.at(-1))) && !isIdSchema(schema))
        .filter(({ path }) => path.at(-1) !== 'ref_id')
        .map(({ path }) => `${operation.id} ${pointer(path)}`),
    );
    expect(others.sort()).toEqual(NOT_OUR_IDS.toSorted());
  });
});

describe('without a valid token', () => {
  const token = 'eyJhbGciOiJub25lIn0.eyJzY29wZSI6InRyYW5zZmVyOnJlYWRfdHJhbnNmZXIifQ.';

  expectNothingChangedByTests();

  it.each(named(operations))(
    '%s answers 401, even if the rest of the request is valid, and changes nothing',
    async (_name, operation) => {
      const [method, path, body] = requests.get(operation)!;
      const bare = await service.anonymous.call(method, path, body);
      expectProblem(bare, 401, 'unauthenticated');
      expect(bare.headers.get('www-authenticate')).toBe('Bearer realm="ferry"');
      const wrong = ['Bearer', 'Bearer x y', 'Bearer nonsense', `Bearer ${token}`];
      // The quick run sends each operation one of them.
      const sent = IS_LONG ? wrong : [wrong[operations.indexOf(operation) % wrong.length]!];
      for (const authorization of sent) {
        const answer = await service.anonymous.call(method, path, body, { authorization });
        expectProblem(answer, 401, 'unauthenticated');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="ferry", error="invalid_token"');
      }
      const basic = await service.anonymous.call(method, path, body, { authorization: 'Basic YTpi' });
      expectProblem(basic, 401, 'unauthenticated');
      expect(basic.headers.get('www-authenticate')).toBe('Bearer realm="ferry"');
    },
  );
});

describe('with every scope but the one that it needs', () => {
  const weak = new Map<string, TestCustomer>();
  expectNothingChangedByTests(async () => {
    for (const [scope] of scoped.map(({ scopes }) => scopes)) {
      const scopes = SCOPE_NAMES.filter((name) => name !== scope);
      if (!weak.has(scope!)) weak.set(scope!, await service.createCustomer({ scopes }));
    }
  });

  it.each(named(scoped))('%s answers 403, names the scope, and changes nothing', async (_name, operation) => {
    const [scope] = operation.scopes;
    const answer = await weak.get(scope!)!.call(...requests.get(operation)!);
    const meta = expectProblem(answer, 403, 'insufficient-scope');
    expect(meta.required).toBe(scope);
    expect(meta.found).toHaveLength(SCOPE_NAMES.length - 1);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="ferry", error="insufficient_scope", scope="${scope}"`,
    );
  });
});

describe('with the id of another customer in the path', () => {
  const foreign = new Map<Operation, { path: string; body: unknown }>();
  const before = new Map<Operation, unknown>();

  describe('and as another caller', () => {
    expectNothingChangedByTests(async () => {
      for (const operation of withPathId) {
        const [, path] = await requestOf(operation);
        const body = operation.body === undefined ? undefined : exampleFor(operation, mallory, 'shown');
        foreign.set(operation, { path, body });
      }
      // Of some, the owner reads a list, which has the records of other operations as well.
      for (const [operation, { path }] of foreign) before.set(operation, await readAsOwner(operation, path));
    });

    it.each(named(withPathId))('%s answers 404 and changes nothing', async (_name, operation) => {
      const { path, body } = foreign.get(operation)!;
      const answer = await mallory.customer.call(operation.method, path, body);
      const meta = expectProblem(answer, 404, 'not-found');
      expect(Object.keys(meta).sort()).toEqual(['id', 'resource']);
      expect(path).toContain(meta.id);
    });
  });

  it('the owner reads afterwards what it could read before', async () => {
    for (const [operation, { path }] of foreign)
      expect([operation.name, await readAsOwner(operation, path)]).toEqual([
        operation.name,
        before.get(operation),
      ]);
  });

  // Only the caller of the requests above was wrong.
  it.each(named(withPathId))('%s as the owner succeeds', async (_name, operation) => {
    const { path, body } = foreign.get(operation)!;
    const owner = operation.id === 'affirmSettlementTransaction' ? carol : alice.customer;
    const sent = await withDigest(operation, { customer: owner }, path, body);
    expect((await owner.call(operation.method, path, sent)).status).toBe(200);
  });

  it('an unknown id gets the same answer as one of another customer', async () => {
    for (const operation of withPathId) {
      const [method, path, body] = requests.get(operation)!;
      const [, id] = /([0-9a-f-]{36})/.exec(path)!;
      const unknown = id!.replace(/.{12}$/, '0123456789ab');
      const hidden = await mallory.customer.call(method, path, body);
      const absent = await mallory.customer.call(method, path.replace(id!, unknown), body);
      expect(absent.status).toBe(404);
      expect(JSON.stringify(absent.body)).toBe(JSON.stringify(hidden.body).replaceAll(id!, unknown));
    }
  });
});

describe('with the id of another customer in the body', () => {
  const cases = withBodyIds.filter(({ name }) => !ANYBODYS.includes(name));

  describe('that must be one of the caller', () => {
    const targets = new Map<Operation, string>();
    expectNothingChangedByTests(async () => {
      for (const { operation } of cases)
        if (!targets.has(operation)) targets.set(operation, await pathFor(operation, mallory));
    });

    it.each(cases.map((one) => [one.name, one] as const))(
      '%s answers 404 and changes nothing',
      async (_name, { operation, path }) => {
        const own = exampleFor(operation, mallory, 'every');
        const foreign = alice.fields[path.at(-1)!]!;
        const body = withField(own, path, foreign);
        const answer = await mallory.customer.call(operation.method, targets.get(operation)!, body);
        const meta = expectProblem(answer, 404, 'not-found');
        const place = operation.id === 'createPlatformTransfers' ? { index: path[1] } : {};
        expect(meta).toEqual({ resource: expect.any(String), id: foreign, ...place });
      },
    );
  });

  it.each(ANYBODYS)('%s may name any customer by design', async (name) => {
    const { operation, path } = withBodyIds.find((one) => one.name === name)!;
    const own = exampleFor(operation, mallory, 'shown');
    const foreign = withField(own, path, alice.fields[path.at(-1)!]);
    const renamed = JSON.stringify(foreign).replaceAll(/"ref_id":"[^"]*"/g, () => `"ref_id":"${newId()}"`);
    const body = JSON.parse(renamed);
    expect((await mallory.customer.call(operation.method, operation.path, body)).status).toBe(200);
  });

  // Last, since workers continue the withdrawals.
  const accepted = [...new Set(withBodyIds.map((one) => one.operation))];
  it.each(named(accepted))(
    '%s is accepted with the caller’s own ids in every field',
    async (_name, operation) => {
      const body = exampleFor(operation, mallory, 'every');
      const answer = await mallory.customer.call(operation.method, await pathFor(operation, mallory), body);
      expect(answer.body).not.toHaveProperty('detail');
      expect(answer.status).toBe(200);
    },
  );
});

describe('lists', () => {
  let ann: Belongings;
  let ben: Belongings;
  beforeAll(async () => {
    ann = await createBelongings(service, await service.createCustomer(), carol);
    ben = await createBelongings(service, await service.createCustomer(), carol);
    for (const make of [ann, ben].flatMap((one) => Object.values(one.make)))
      await Promise.all([make(), make()]);
  });

  const idsIn = ({ body }: { body: any }): string[] => body.items.map((one: any) => one.id ?? one.client_id);

  it.each(named(lists))(
    '%s shows each customer only its own records, with any parameters',
    async (_name, operation) => {
      const ask = (who: TestCustomer, query: string) => who.call('GET', `${operation.path}${query}`);
      const hers = await ask(ann.customer, '?limit=1000');
      const his = await ask(ben.customer, '?limit=1000');
      expect(idsIn(hers).length).toBeGreaterThan(1);
      expect(idsIn(his).length).toBeGreaterThan(1);
      expect(idsIn(his).filter((id) => idsIn(hers).includes(id))).toEqual([]);
      for (const item of his.body.items) expect(item.customer_id ?? ben.customer.id).toBe(ben.customer.id);
      // With filters that name Ann's records. Every list but that of clients can be filtered by ids.
      const known = new Set([...Object.values(ann.fields), ...idsIn(hers)]);
      const filters = operation.parameters.filter(
        (one) => one.in === 'query' && isIdSchema(one.schema.items),
      );
      expect(filters.some(({ name }) => name === 'ids')).toBe(operation.id !== 'listOwnClients');
      for (const { name } of filters) {
        const pairs = [...known].slice(0, 100).map((id) => `${name}=${id}`);
        expect((await ask(ben.customer, `?${pairs.join('&')}`)).body.items).toEqual([]);
      }
      // With a cursor that was given to Ann.
      const { next_page_cursor: cursor } = (await ask(ann.customer, '?limit=1')).body;
      const next = idsIn(await ask(ben.customer, `?limit=1000&page_cursor=${cursor}`));
      expect(next.filter((id) => !idsIn(his).includes(id))).toEqual([]);
    },
  );

  it('a customer without records sees none', async () => {
    const newcomer = await service.createCustomer();
    for (const { path, id } of lists) {
      const { items } = (await newcomer.call('GET', path)).body;
      // It has a client, and the log has how both were created.
      const others = items.filter(
        (one: any) => one.client_id === undefined && !/^(customer|client)\.created$/.test(one.action),
      );
      expect([id, others]).toEqual([id, []]);
    }
  });
});
