import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ID_PATTERN } from '../../src/kernel/id.ts';
import { openItems } from './books.ts';
import { closed, describeError } from './schemas.ts';
import type { TestCustomer, TestService } from './service.ts';

/** The published document, and requests that are made from it alone. */
export type Operation = {
  /** `POST /v2/things/{id}`, as titles of tests show it. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly id: string;
  /** Empty for public operations. */
  readonly scopes: readonly string[];
  readonly parameters: readonly { name: string; in: 'path' | 'query'; required: boolean; schema: any }[];
  /** References are followed. */
  readonly body: { readonly schema: any; readonly example: any; readonly mediaType: string } | undefined;
  readonly responses: Readonly<Record<string, any>>;
};

type Received = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: any;
};

export type Description = {
  readonly document: any;
  readonly operations: readonly Operation[];
  operation(id: string): Operation;
  /** Follows references, all the way down. */
  resolve(schema: any): any;
  /** The schema errors of a request body. */
  bodyFaults(operation: Operation, body: unknown): string[];
  /** What of an answer does not match the document, as sentences. */
  faults(method: string, pathname: string, received: Received): string[];
  /** The same of the body of a problem, whichever operation it is the answer of. */
  problemFaults(body: any, status: number): string[];
  /** Throws when an answer does not match the document. */
  check(method: string, path: string, received: Received): void;
};

/** Answered to requests that are not one of an operation. */
const ODD_TYPES =
  /\/problems\/(not-found|method-not-allowed|unsupported-media-type|headers-too-large|request-timeout)$/;

/** Pages for readers and operators of the service; they are not operations. */
export const OUTSIDE = /^\/(health|metrics|docs|problems|openapi\.json)(\/|$)/;

const isHeaderThere = (headers: Received['headers'], name: string): boolean =>
  (headers.get(name) ?? '') !== '';

// Strict: a keyword that Ajv does not know, or that cannot apply, is a mistake in the document.
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats.default(ajv);

/** By the text of the schema: the services of many test files, which run in one process, have the same ones. */
const compiled = new Map<string, ValidateFunction>();

function compile(schema: any): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return validate;
}

export function readDescription(document: any): Description {
  const resolve = (schema: any): any => {
    if (Array.isArray(schema)) return schema.map(resolve);
    if (schema === null || typeof schema !== 'object') return schema;
    if (typeof schema.$ref === 'string') {
      const parts = schema.$ref.slice(2).split('/');
      return resolve(parts.reduce((at: any, part: string) => at[part], document));
    }
    return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, resolve(inner)]));
  };

  // Compiled when first used: a file of tests needs only a few of them.
  const validators = new Map<unknown, ValidateFunction>();
  const faultsOf = (schema: any, value: unknown): string[] => {
    const key = schema.$ref ?? schema;
    const validate = validators.get(key) ?? compile(closed(resolve(schema)));
    validators.set(key, validate);
    return validate(value) ? [] : validate.errors!.map(describeError);
  };

  const operations = Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]): Operation => {
      const [mediaType, content] = Object.entries<any>(operation.requestBody?.content ?? {})[0] ?? [];
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        id: operation.operationId,
        scopes: operation.security.flatMap((one: Record<string, string[]>) => Object.values(one).flat()),
        parameters: (operation.parameters ?? []).map(resolve),
        body:
          mediaType === undefined
            ? undefined
            : { schema: resolve(content.schema), example: content.example, mediaType },
        // Problems that several operations share are references.
        responses: Object.fromEntries(
          Object.entries<any>(operation.responses).map(([status, one]) => [
            status,
            one.$ref === undefined ? one : document.components.responses[one.$ref.split('/').at(-1)],
          ]),
        ),
      };
    }),
  );

  // A path without parameters is a better match than one with.
  const templates = Object.keys(document.paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`) }))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length);

  function faults(method: string, pathname: string, received: Received): string[] {
    const { status, headers, body } = received;
    const path = templates.find(({ pattern }) => pattern.test(pathname))?.path;
    const verb = method === 'HEAD' ? 'GET' : method;
    const operation = operations.find((one) => one.path === path && one.method === verb);
    if (operation === undefined) {
      const expected = path === undefined ? 404 : 405;
      if (status !== expected) return [`the document has no such ${path === undefined ? 'path' : 'method'}`];
      return faultsOf({ $ref: '#/components/schemas/Problem' }, body);
    }
    const response = operation.responses[status];
    if (response === undefined) {
      return [`${operation.id} has no such status, only ${Object.keys(operation.responses).join(', ')}`];
    }
    const missing = Object.entries<any>(response.headers ?? {})
      .filter(([name, header]) => header.required === true && !isHeaderThere(headers, name))
      .map(([name]) => `the header ${name} is missing`);
    if (
      isHeaderThere(headers, 'idempotent-replayed') &&
      !('Idempotent-Replayed' in (response.headers ?? {}))
    ) {
      missing.push('the header Idempotent-Replayed is not in the document');
    }
    const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
    const content = response.content[type];
    if (content === undefined) {
      return [...missing, `its type is ${type}, and not ${Object.keys(response.content).join(', ')}`];
    }
    if (method === 'HEAD') return missing;
    return [...missing, ...faultsOf(content.schema, body), ...slugFaults(content, body, status)];
  }

  /** Each status lists the problems that it can be. */
  function slugFaults(content: any, body: any, status: number): string[] {
    if (content.examples === undefined) return [];
    if (body?.status !== status) return [`its status is ${body?.status}, and not ${status}`];
    const types = Object.values<any>(content.examples).map((example) => example.value.type);
    return types.includes(body?.type) ? [] : [`its type is ${body?.type}, and not ${types.join(', ')}`];
  }

  const problemTypes = new Set(
    operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) =>
        Object.values<any>(content?.['application/problem+json']?.examples ?? {}).map(
          (one) => one.value.type,
        ),
      ),
    ),
  );

  return {
    document,
    operations,
    faults,
    problemFaults(body, status) {
      const shape = faultsOf({ $ref: '#/components/schemas/Problem' }, body);
      if (shape.length > 0) return shape;
      if (body.status !== status) return [`its status is ${body.status}, and not ${status}`];
      return problemTypes.has(body.type) || ODD_TYPES.test(body.type)
        ? []
        : [`its type ${body.type} is not in the document`];
    },
    operation: (id) => operations.find((one) => one.id === id)!,
    resolve,
    bodyFaults: (operation, body) => faultsOf(operation.body!.schema, body),
    check(method, path, received) {
      const pathname = path.split('?', 1)[0]!;
      if (OUTSIDE.test(pathname)) return;
      const found = faults(method, pathname, received);
      if (found.length === 0) return;
      const body = JSON.stringify(received.body)?.slice(0, 2_000);
      throw new Error(
        `${method} ${pathname} answered ${received.status}, which is not what /openapi.json says: ${found.join('; ')}\n${body}`,
      );
    },
  };
}

/** The records of a customer: one of every kind to which an operation can refer. */
export type Belongings = {
  readonly customer: TestCustomer;
  /**
   * Creates another record and returns its id, by the part of the path before it: `profiles` of `/v2/profiles/{id}`. An
   * operation that needs a record in a certain state has its own, by the id of the operation.
   */
  readonly make: Readonly<Record<string, () => Promise<string>>>;
  /** What to put into a field of a body, by its name. */
  readonly fields: Readonly<Record<string, string>>;
};

const FUNDS = { USD: '1000000', BTC: '1000' };

/** `partner` is the other side of settlements. No record changes by itself: no withdrawal is paid, no window is open. */
export async function createBelongings(
  service: Pick<TestService, 'description' | 'createProfile' | 'database'>,
  customer: TestCustomer,
  partner: TestCustomer,
): Promise<Belongings> {
  const exampleOf = (id: string): any => structuredClone(service.description.operation(id).body!.example);
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await customer.call('POST', path, body);
    if (answer.status !== 200) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const profile = await service.createProfile(customer, FUNDS);
  const second = await service.createProfile(customer, FUNDS);
  const partners = await service.createProfile(partner);
  const identity = async (): Promise<string> =>
    (await post('/v2/identity/identities', exampleOf('createIdentity'))).id;
  const account = async (owner: string): Promise<string> =>
    (await post('/v2/identity/accounts', { account: { identity_id: owner } })).id;
  const webhooks: string[] = [];
  const make: Belongings['make'] = {
    profiles: () => service.createProfile(customer, FUNDS),
    identities: identity,
    accounts: async () => account(await identity()),
    'account-members': async () => {
      const members = [{ identity_id: await identity(), roles: ['FINANCIAL_ADVISOR'] }];
      const added = await post('/v2/identity/account-members', {
        account_id: await account(await identity()),
        members,
      });
      return added.members[0].id;
    },
    matches: async () => {
      const reason = 'A payment and its return, both before the go-live.';
      const body = { item_ids: await openItems(customer), reason };
      return (await post('/v2/operator/reconciliations/matches', body)).id;
    },
    'fiat-accounts': async () => {
      const body = exampleOf('createFiatAccount');
      // Waits for a review, so it stays PENDING.
      body.fiat_network_instructions.wire.fiat_account_owner_address.country = 'Atlantis';
      return (await post('/v2/transfer/fiat-accounts', body)).id;
    },
    transfers: async () => {
      // Stays pending: the service of these tests has no workers.
      const { ref_id: _, ...body } = exampleOf('createCryptoWithdrawal');
      return (await post('/v2/transfer/crypto-withdrawals', { ...body, profile_id: profile })).id;
    },
    'deposit-addresses': async () => {
      const body = { profile_id: profile, crypto_network: 'BITCOIN' };
      return (await post('/v2/transfer/deposit-addresses', body)).id;
    },
    'fiat-deposit-instructions': async () => {
      const body = { profile_id: profile, fiat_network: 'WIRE' };
      return (await post('/v2/transfer/fiat-deposit-instructions', body)).id;
    },
    withdrawals: () => make.transfers!(),
    resolveWithdrawal: async () => {
      const id = await make.transfers!();
      // As if a rail had not answered: the service of these tests has no workers.
      await service.database.query(
        `update withdrawal_work set state = 'UNKNOWN', attempts = 1, intent_at_ns = 1 where transfer_id = $1`,
        [id],
      );
      return id;
    },
    'journal-entries': async () => {
      const body = { ...exampleOf('bookJournalEntry'), profile_id: profile };
      return (await post('/v2/operator/journal-entries', body)).id;
    },
    'suspense-deposits': async () =>
      (await post('/v2/sandbox/fiat-deposits', exampleOf('simulateFiatDeposit'))).suspense_deposit.id,
    events: async () => {
      const resourceId = await make.transfers!();
      for (;;) {
        const { body } = await customer.call('GET', `/v2/events?resource_ids=${resourceId}&wait_seconds=5`);
        if (body.items.length > 0) return body.items[0].id;
      }
    },
    webhooks: async () => {
      // For events that do not happen in these tests, so nothing is sent. The number of endpoints per customer is limited.
      const body = { url: 'http://127.0.0.1:9/', event_types: ['webhook_endpoint.disabled'] };
      webhooks.push((await post('/v2/events/webhooks', body)).id);
      if (webhooks.length > 15) await customer.call('DELETE', `/v2/events/webhooks/${webhooks.shift()}`);
      return webhooks.at(-1)!;
    },
    // Of the last endpoint that was created: in a path it stands before its delivery.
    deliveries: async () => {
      const id = webhooks.at(-1) ?? (await make.webhooks!());
      return (await post(`/v2/events/webhooks/${id}/test`, {})).id;
    },
    transactions: async () => {
      const body = {
        source_profile_id: profile,
        target_profile_id: partners,
        legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
        settlement_window_start: new Date(Date.now() + 86_400_000).toISOString(),
      };
      return (await post('/v2/settlement/transactions', body)).id;
    },
  };
  const owner = await identity();
  const owned = await account(owner);
  return {
    customer,
    make,
    fields: {
      profile_id: profile,
      from_profile_id: profile,
      source_profile_id: profile,
      to_profile_id: second,
      target_profile_id: second,
      identity_id: owner,
      from_identity_id: owner,
      to_identity_id: owner,
      account_id: owned,
      from_account_id: owned,
      to_account_id: owned,
      fiat_account_id: await make['fiat-accounts']!(),
      fee_id: (await post('/v2/transfer/fees/crypto-withdrawal', exampleOf('createCryptoWithdrawalFee'))).id,
    },
  };
}

type FieldPath = readonly (string | number)[];

/** Every property below a schema, with its path in a value; of a list, those of its first item. */
export function propertiesOf(schema: any, at: FieldPath = []): { path: FieldPath; schema: any }[] {
  const inner = Object.entries<any>(schema?.properties ?? {}).map(
    ([name, one]) => [[...at, name], one] as const,
  );
  const items = schema?.items === undefined ? [] : [[[...at, 0], schema.items] as const];
  return [
    ...inner.map(([path, one]) => ({ path, schema: one })),
    ...[...inner, ...items].flatMap(([path, one]) => propertiesOf(one, path)),
  ];
}

export const isIdSchema = (schema: any): boolean => schema?.pattern === ID_PATTERN;

/** A copy of the value with that field set. */
export function withField(value: any, path: FieldPath, to: unknown): any {
  const copy = structuredClone(value);
  const holder = path.slice(0, -1).reduce((inner, part) => inner?.[part], copy);
  if (holder === undefined) throw new Error(`the example has nothing at /${path.slice(0, -1).join('/')}`);
  holder[path.at(-1)!] = to;
  return copy;
}

/** The example of an operation with the customer's ids: in the fields that it shows, or in all possible fields. */
export function exampleFor(operation: Operation, { fields }: Belongings, which: 'shown' | 'every'): any {
  const { schema, example } = operation.body!;
  return propertiesOf(schema)
    .filter((one) => isIdSchema(one.schema))
    .reduce((body, { path }) => {
      const isShown = path.reduce((inner: any, part) => inner?.[part], body) !== undefined;
      if (!isShown && which === 'shown') return body;
      const id = fields[path.at(-1)!];
      if (id === undefined)
        throw new Error(`no belonging for the field /${path.join('/')} of ${operation.id}`);
      return withField(body, path, id);
    }, structuredClone(example));
}

/** The request with the digest of a view of the resource, where the operation requires one. */
export async function withDigest(
  operation: Operation,
  { customer }: Pick<Belongings, 'customer'>,
  path: string,
  body: any,
): Promise<any> {
  if (operation.body?.schema.properties?.digest === undefined) return body;
  const view = await customer.call('GET', path.slice(0, path.lastIndexOf('/')));
  return { ...body, digest: view.body.digest };
}

const VALUES: Readonly<Record<string, string>> = {
  asset: 'USD',
  account: 'clearing:wire',
  from: '2020-01-01T00:00:00Z',
};

/** The path of the operation with ids of new records, and with the query parameters that it needs. */
export async function pathFor(operation: Operation, { make }: Belongings): Promise<string> {
  let { path } = operation;
  for (const { name, schema } of operation.parameters.filter((one) => one.in === 'path')) {
    const [, kind = ''] = new RegExp(`/([^/{}]+)/\\{${name}\\}`).exec(operation.path) ?? [];
    const value = isIdSchema(schema) ? await (make[operation.id] ?? make[kind])?.() : VALUES[name];
    if (value === undefined) throw new Error(`no belonging for {${name}} of ${operation.name}`);
    path = path.replace(`{${name}}`, value);
  }
  const needed = operation.parameters.filter((one) => one.in === 'query' && one.required);
  const query = new URLSearchParams(Object.fromEntries(needed.map(({ name }) => [name, VALUES[name]!])));
  return needed.length === 0 ? path : `${path}?${query.toString()}`;
}
