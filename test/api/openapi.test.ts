import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { PROBLEMS } from '../../src/kernel/problem.ts';
import { callExample } from '../support/examples.ts';
import {
  type Belongings,
  createBelongings,
  isIdSchema,
  type Operation,
  OUTSIDE,
  propertiesOf,
  registeredRoutes,
} from '../support/openapi.ts';
import { startTestService } from '../support/service.ts';

// Before the tests are collected: one test for each operation of the document.
const service = await startTestService();
afterAll(() => service.stop());
const { description } = service;
const { document, operations } = description;
const secured = operations.filter((operation) => operation.scopes.length > 0);
/** The host of webhooks in examples, a reserved name. */
const EXAMPLE = 'https://example.com';

const named = (list: readonly Operation[]) => list.map((operation) => [operation.name, operation] as const);

const statusesOf = (operation: Operation): number[] => Object.keys(operation.responses).map(Number);
const slugsOf = (operation: Operation, status: number): string[] =>
  Object.keys(operation.responses[status]?.content['application/problem+json']?.examples ?? {});

describe('the document', () => {
  /** What the service sends, and receivers of webhooks answer. */
  const RECEIVED = /^#\/components\/pathItems\/|\/callbacks\//;
  /** Rules that do not apply here, each with its reason. */
  const ACCEPTED: readonly (readonly [rule: string, where: RegExp, why: string])[] = [
    [
      'operation-4xx-problem-details-rfc7807',
      /^#\/paths\/~1oauth2~1/,
      'errors of the OAuth endpoints have the form of RFC 6749',
    ],
    [
      'operation-4xx-response',
      /^#\/paths\/~1\.well-known~1/,
      'a GET without parameters has nothing to refuse',
    ],
    ['paths-kebab-case', RECEIVED, 'webhooks have the names of events'],
    ['operation-tag-defined', RECEIVED, 'a tag would put them among the operations of generated clients'],
    ['operation-4xx-problem-details-rfc7807', RECEIVED, 'receivers of webhooks answer as they like'],
  ];

  it('is valid OpenAPI 3.1, and follows the strictest rules of an independent linter', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // Beyond the strict set: what this interface promises about itself.
      rules: {
        'array-parameter-serialization': 'error',
        'component-name-unique': 'error',
        'no-http-verbs-in-paths': 'error',
        'operation-4xx-problem-details-rfc7807': 'error',
        'operation-singular-tag': 'error',
        'operation-tag-defined': 'error',
        'parameter-description': 'error',
        'path-params-defined': 'error',
        'paths-kebab-case': 'error',
        'spec-strict-refs': 'error',
      },
    });
    const source = JSON.stringify(document);
    const findings = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    const said = findings.map((one) => ({ rule: one.ruleId, at: one.location[0]!.pointer ?? '', ...one }));
    const accepted = (rule: string, at: string): boolean =>
      ACCEPTED.some(([name, where]) => name === rule && where.test(at));
    expect(
      said
        .filter(({ rule, at }) => !accepted(rule, at))
        .map(({ rule, at, message }) => `${rule} at ${at}: ${message}`),
    ).toEqual([]);
    expect(ACCEPTED.filter(([rule]) => !said.some((one) => one.rule === rule))).toEqual([]);
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('is what the service answers, compressed or not', async () => {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(`${service.url}/openapi.json`, { headers: { 'accept-encoding': encoding } });
      expect(answer.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(await answer.json()).toEqual(document);
    }
  });

  it('has no server address other than that of the service', () => {
    const addresses = [...JSON.stringify(document).matchAll(/https?:\/\/[^/"\s`]+/g)].map(
      ([address]) => address,
    );
    expect(new Set(addresses)).toEqual(new Set([service.url, EXAMPLE]));
    expect(document.servers).toEqual([{ url: service.url }]);
  });

  it('names every operation once', () => {
    const ids = operations.map((operation) => operation.id);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('is the document of the whole service', () => {
    const six = [
      'POST /v2/transfer/fiat-withdrawals',
      'POST /v2/transfer/crypto-withdrawals',
      'POST /v2/transfer/platform',
      'POST /v2/settlement/transactions',
      'POST /v2/transfer/fiat-accounts',
      'POST /v2/identity/account-members',
    ];
    expect(operations.map((operation) => operation.name)).toEqual(expect.arrayContaining(six));
    const open = operations.filter((operation) => operation.scopes.length === 0);
    expect(open.map((operation) => operation.name).sort()).toEqual([
      'GET /.well-known/jwks.json',
      'GET /.well-known/oauth-authorization-server',
      'GET /v2/me',
      'POST /oauth2/revoke',
      'POST /oauth2/token',
    ]);
  });

  it.each(named(operations))(
    '%s has a summary, a tag that is described, and a known scope',
    (_name, operation) => {
      const raw = document.paths[operation.path][operation.method.toLowerCase()];
      expect(raw.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(raw.tags).toHaveLength(1);
      const tag = document.tags.find((one: { name: string }) => one.name === raw.tags[0]);
      expect(tag?.description).toMatch(/\.$/);
      if (operation.scopes.length === 0) return;
      expect(raw.security).toEqual([{ oauth2: operation.scopes }, { session: [] }]);
      expect(SCOPE_NAMES).toEqual(expect.arrayContaining([...operation.scopes]));
      const known = Object.keys(document.components.securitySchemes.oauth2.flows.clientCredentials.scopes);
      expect(known).toEqual(expect.arrayContaining([...operation.scopes]));
      expect(raw.description).toContain(operation.scopes[0]);
    },
  );

  it.each(named(secured))('%s answers 200 and every problem that it can have', (_name, operation) => {
    const statuses = [200, 400, 401, 403, 429, 500, 503];
    const fields = propertiesOf(operation.body?.schema);
    const has = (name: string): boolean => fields.some(({ path }) => path.at(-1) === name);
    const hasPathId = operation.parameters.some((one) => one.in === 'path' && isIdSchema(one.schema));
    if (hasPathId || fields.some(({ schema }) => isIdSchema(schema))) statuses.push(404);
    if (operation.method !== 'GET') statuses.push(413, 415);
    if (has('ref_id')) statuses.push(409);
    expect(statusesOf(operation)).toEqual(expect.arrayContaining(statuses));
    expect(slugsOf(operation, 400)).toContain('invalid-request');
    if (has('amount')) expect(slugsOf(operation, 400)).toContain('exceeds-precision');
    expect(slugsOf(operation, 401)).toEqual(['unauthenticated']);
    expect(slugsOf(operation, 403)).toContain('insufficient-scope');
    if (has('ref_id')) expect(slugsOf(operation, 409)).toContain('already-exists');
    for (const status of statusesOf(operation).filter((one) => one >= 400)) {
      const slugs = slugsOf(operation, status);
      expect(slugs).not.toEqual([]);
      for (const slug of slugs) expect(PROBLEMS[slug as keyof typeof PROBLEMS].status).toBe(status);
    }
  });

  it.each(named(secured))(
    '%s allows no additional properties in requests, and any in answers',
    (_name, operation) => {
      const [content] = Object.values<any>(operation.responses[200].content);
      const answer = description.resolve(content.schema);
      const objectsIn = (schema: any) => {
        const all = [{ path: [], schema }, ...propertiesOf(schema)];
        const items = all.flatMap((one) =>
          one.schema?.items === undefined ? [] : [{ path: [...one.path, 0], schema: one.schema.items }],
        );
        return [...all, ...items].filter((one) => one.schema?.type === 'object');
      };
      const open = objectsIn(operation.body?.schema).filter((one) =>
        [undefined, true].includes(one.schema.additionalProperties),
      );
      expect(open.map(({ path }) => `/${path.join('/')}`)).toEqual([]);
      expect(JSON.stringify(answer)).not.toContain('"additionalProperties":false');
    },
  );

  it('is written so that generators of clients understand it', () => {
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/"pattern":"[^"]*\\\\p\{/);
    const enums: any[] = [];
    const ids: any[] = [];
    JSON.stringify(document, (_key, value) => {
      if (Array.isArray(value?.enum)) enums.push(value);
      if (value?.format === 'uuid') ids.push(value);
      return value;
    });
    expect(enums.filter(({ type }) => type !== 'string')).toEqual([]);
    expect(ids.length).toBeGreaterThan(100);
    // Generated Python does not run with both, and generated Go does not compile with a byte order mark.
    expect(ids.filter(({ pattern }) => pattern !== undefined)).toEqual([]);
    expect(text).not.toContain('\ufeff');
    const stream = description.operation('streamEvents').responses[200].content;
    expect(stream['text/event-stream'].schema).toEqual({ type: 'string' });
    expect(Object.keys(description.operation('createToken').responses[200].content)).toHaveLength(1);
  });

  it('has no schema that a generator leaves out or takes for a type of its own', () => {
    const found = new Set<string>();
    const follow = (part: unknown): void => {
      for (const [, kind, name] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
        if (found.has(name!)) continue;
        found.add(name!);
        follow(document.components[kind!][name!]);
      }
    };
    // From the paths alone: oapi-codegen leaves out what only webhooks refer to.
    follow(document.paths);
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !found.has(name))).toEqual([]);
    const taken = ['Client', 'ClientInterface', 'ClientOption', 'ApiClient', 'APIClient', 'Configuration'];
    expect(names.filter((name) => taken.includes(name))).toEqual([]);
  });

  it('has each event as a webhook, with the resource that it is about', () => {
    const { $ref } = document.webhooks['transfer.wire_withdrawal.completed'];
    expect($ref).toBe('#/components/pathItems/onTransferWireWithdrawalCompleted');
    const transfer = document.components.pathItems.onTransferWireWithdrawalCompleted.post.requestBody;
    expect(transfer.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/TransferEvent',
    });
    expect(JSON.stringify(document.components.schemas.TransferEvent)).toContain(
      '"data":{"$ref":"#/components/schemas/Transfer"}',
    );
    expect(Object.keys(document.webhooks)).toEqual(
      expect.arrayContaining([
        'settlement.transaction.settled',
        'fiat_account.approved',
        'account_member.added',
      ]),
    );
  });

  it('says that a profile cannot be created for an account whose owner is frozen', () => {
    expect(slugsOf(description.operation('createProfile'), 403)).toContain('forbidden');
  });

  it('links an answer to the operations that its ids lead to', () => {
    const { links } = description.operation('createPlatformTransfer').responses[200];
    expect(links).toEqual({
      getTransfer: { operationId: 'getTransfer', parameters: { id: '$response.body#/id' } },
      getProfile: { operationId: 'getProfile', parameters: { id: '$response.body#/profile_id' } },
      getIdentity: { operationId: 'getIdentity', parameters: { id: '$response.body#/identity_id' } },
      getAccount: { operationId: 'getAccount', parameters: { id: '$response.body#/account_id' } },
      getFiatAccount: {
        operationId: 'getFiatAccount',
        parameters: { id: '$response.body#/fiat_account_id' },
      },
    });
    const ofAll = (id: string) => description.operation(id).responses[200].links;
    expect(Object.keys(ofAll('createWebhook'))).toEqual(
      expect.arrayContaining(['getWebhook', 'updateWebhook', 'deleteWebhook', 'rotateWebhookSecret']),
    );
    expect(ofAll('createClient').disableClient).toEqual({
      operationId: 'disableClient',
      parameters: { client_id: '$response.body#/client_id' },
    });
  });
});

describe('the routes', () => {
  it('are all in the document, and everything in the document is a route', async () => {
    const routes = registeredRoutes(service).filter(({ path }) => !OUTSIDE.test(path));
    const names = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    const documented = new Set(operations.map((operation) => operation.name));
    expect([...documented].filter((name) => !names.has(name))).toEqual([]);
    const undocumented = [];
    for (const { method, path } of routes) {
      // A HEAD is a GET without its body.
      const asked = method === 'HEAD' && names.has(`GET ${path}`) ? 'GET' : method;
      if (documented.has(`${asked} ${path}`)) continue;
      // Routes outside the document only answer 404.
      const answer = await service.app.inject({ method: asked as 'GET', url: path });
      if (answer.statusCode !== 405) undocumented.push(`${method} ${path}: ${answer.statusCode}`);
    }
    expect(undocumented).toEqual([]);
    expect(documented.size).toBeGreaterThan(30);
  });

  it('outside of the document are only pages and probes', () => {
    const outside = registeredRoutes(service).filter(
      // test/people/pages.test.ts has those under /signin.
      ({ method, path }) => method === 'GET' && OUTSIDE.test(path) && !path.startsWith('/signin'),
    );
    expect(outside.map(({ path }) => path).sort()).toEqual([
      '/',
      '/console',
      '/console/',
      '/console/*',
      '/docs',
      '/docs/',
      '/docs/adapter-openapi.json',
      '/docs/guides',
      '/docs/guides/',
      '/docs/guides/decisions/{name}',
      '/docs/guides/guides.css',
      '/docs/guides/guides.js',
      '/docs/guides/{name}',
      '/docs/js/scalar.js',
      '/health/live',
      '/health/ready',
      '/metrics',
      '/openapi.json',
      '/problems',
      '/problems/{slug}',
    ]);
  });
});

describe('examples', () => {
  const withBody = operations.filter((operation) => operation.body !== undefined);
  let own: Belongings;
  beforeAll(async () => {
    own = await createBelongings(service, await service.createCustomer(), await service.createCustomer());
  });

  it('are given for every operation that takes a body', () => {
    const without = withBody.filter((operation) => operation.body!.example === undefined);
    expect(without.map((operation) => operation.name)).toEqual([]);
    expect(operations.filter((one) => one.method === 'GET' && one.body !== undefined)).toEqual([]);
  });

  it.each(named(withBody))(
    '%s: the example follows its schema, and its ids look like ids',
    (_name, operation) => {
      const { example } = operation.body!;
      expect(description.bodyFaults(operation, example)).toEqual([]);
      const ids = JSON.stringify(example).match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];
      for (const id of ids)
        expect(id).toMatch(/^019[0-9a-f]{5}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    },
  );

  it.each(named(withBody.filter((operation) => operation.scopes.length > 0)))(
    '%s: the example works with the ids of existing records',
    async (_name, operation) => {
      const answer = await callExample(operation, own);
      expect(answer.body).not.toHaveProperty('detail');
      expect(answer.status).toBe(200);
    },
  );

  it('POST /oauth2/token and /oauth2/revoke: the examples work with the credentials of a client', async () => {
    const { clientId, clientSecret } = await createClient(service.database, service.vault, {
      customer: own.customer.id,
      name: 'example',
      scopes: SCOPE_NAMES,
    });
    const { example } = description.operation('createToken').body!;
    const ask = async (secret: string, form: Record<string, string>, path = '/oauth2/token') => {
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
        body: new URLSearchParams(form),
      });
      const answer = { status: response.status, headers: response.headers, body: await response.json() };
      description.check('POST', path, answer);
      return answer;
    };
    expect(await ask(clientSecret, example)).toMatchObject({ status: 200, body: { scope: example.scope } });
    expect((await ask(clientSecret, { ...example, scope: 'all' })).status).toBe(400);
    expect((await ask('wrong', example)).status).toBe(401);
    const { example: token } = description.operation('revokeToken').body!;
    expect(await ask(clientSecret, token, '/oauth2/revoke')).toMatchObject({ status: 200, body: {} });
    expect((await ask(clientSecret, {}, '/oauth2/revoke')).status).toBe(400);
    expect((await ask('wrong', token, '/oauth2/revoke')).status).toBe(401);
  });

  it('issuer and token endpoint are those of the document', async () => {
    for (const path of ['/.well-known/jwks.json', '/.well-known/oauth-authorization-server']) {
      expect((await service.anonymous.call('GET', path)).status).toBe(200);
    }
  });
});
