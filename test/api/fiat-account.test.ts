import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { eventsOf } from '../support/events.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/transfer/fiat-accounts';
const NUMBER = '000123456789';
const UUID = /^[0-9a-f-]{36}$/;

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let platform: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  platform = await service.createCustomer({ integration: 'THIRD_PARTY' });
});
afterAll(() => service.stop());

const person = { person_details: { first_name: 'Ada', last_name: 'Lovelace' } };
const institution = { institution_details: { name: 'Analytical Engines Ltd' } };
const address = {
  country: 'US',
  address1: '1 Main Street',
  address2: 'Floor 2',
  city: 'New York',
  province: 'NY',
  zip_code: '10001',
};
const aba = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Bank',
  bank_address: address,
};
const swift = { ...aba, routing_number_type: 'SWIFT', routing_number: 'CHASUS33XXX' };
const wire = { account_number: NUMBER, routing_details: aba, fiat_account_owner_address: address };
const kinds: Record<string, object> = {
  wire,
  cubix: { account_id: 'cubix-000123456789' },
  bank_network_2: { account_number: NUMBER },
  bank_network_3: { account_number: NUMBER },
  cbit: { wallet_address: '0x52908400098527886E0F7030069857D2E4169EE7' },
};
const request = { fiat_account_owner: person, fiat_network_instructions: { wire } };

/** The whole request with one field of it, named by a JSON pointer, set or (undefined) left out. */
function changed(pointer: string, value: unknown, base: object = request): any {
  const copy = JSON.parse(JSON.stringify(base));
  const steps = pointer.slice(1).split('/');
  const last = steps.pop()!;
  const target = steps.reduce((object, step) => (object[step] ??= {}), copy);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return copy;
}

const create = (body: unknown, customer = alice): Promise<Answer> => customer.call('POST', PATH, body);

async function identityOf(customer: TestCustomer, status = 'APPROVED'): Promise<string> {
  const id = newId();
  await service.database.query(
    `insert into identities (id, customer_id, type, person_details, status, created_at_ns, updated_at_ns)
     values ($1, $2, 'PERSON', '{"first_name": "Ada", "last_name": "Lovelace"}', $3, 0, 0)`,
    [id, customer.id, status],
  );
  return id;
}

async function accountOf(customer: TestCustomer, identityId: string): Promise<string> {
  const id = newId();
  await service.database.query(
    `insert into accounts (id, customer_id, identity_id, type, created_at_ns, updated_at_ns)
     values ($1, $2, $3, 'BROKERAGE', 0, 0)`,
    [id, customer.id, identityId],
  );
  return id;
}

describe('what is accepted', () => {
  it('answers with the account, PENDING, with everything at the top level and the number masked', async () => {
    const identity_id = await identityOf(alice);
    const account_id = await accountOf(alice, identity_id);
    const body = { ...request, ref_id: 'first', identity_id, account_id, metadata: { note: 'rent' } };
    const answer = await create(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID),
      fiat_account_owner: person,
      fiat_network_instructions: { wire: { ...wire, account_number: '****6789' } },
      status: 'PENDING',
      ref_id: 'first',
      identity_id,
      account_id,
      metadata: { note: 'rent' },
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
    });
  });

  it('leaves out what was not given', async () => {
    const { body } = await create(request);
    expect(Object.keys(body).sort()).toEqual([
      'created_at',
      'fiat_account_owner',
      'fiat_network_instructions',
      'id',
      'status',
      'updated_at',
    ]);
  });

  it('keeps the whole number for payments, and announces the account', async () => {
    const { body } = await create(request);
    const [row] = await service.database.query<any>('select * from fiat_accounts where id = $1', [body.id]);
    expect(row).toMatchObject({ customer_id: alice.id, kind: 'wire', fiat_network_instructions: { wire } });
    const [first] = await eventsOf(service.database, body.id);
    expect(first).toEqual({ customer_id: alice.id, type: 'fiat_account.pending', resource: body });
  });

  it.each(Object.entries(kinds))('takes an account of the kind %s', async (kind, instructions) => {
    const answer = await create(changed('/fiat_network_instructions', { [kind]: instructions }));
    expect(answer.status).toBe(200);
    const out = answer.body.fiat_network_instructions;
    expect(Object.keys(out)).toEqual([kind]);
    expect(Object.keys(out[kind])).toEqual(Object.keys(instructions));
  });

  it('takes an institution as the owner', async () => {
    const answer = await create(changed('/fiat_account_owner', institution));
    expect(answer.body).toMatchObject({ status: 'PENDING', fiat_account_owner: institution });
  });

  it('takes a wire with no more than what is required', async () => {
    const least = { country: 'US' };
    const routing = { ...aba, bank_address: least };
    const body = { account_number: '1', routing_details: routing, fiat_account_owner_address: least };
    const answer = await create(changed('/fiat_network_instructions', { wire: body }));
    expect(answer.status).toBe(200);
    expect(answer.body.fiat_network_instructions.wire).toEqual({ ...body, account_number: '****' });
  });

  it.each(['CHASUS33', 'CHASUS33XXX', '1ABCDE2FA00'])('takes the BIC %s', async (bic) => {
    const routing = { ...swift, routing_number: bic };
    const answer = await create(changed('/fiat_network_instructions/wire/routing_details', routing));
    expect(answer.body.fiat_network_instructions.wire.routing_details).toEqual(routing);
  });

  it('takes an intermediary bank', async () => {
    const answer = await create(
      changed('/fiat_network_instructions/wire/intermediary_routing_details', swift),
    );
    expect(answer.body.fiat_network_instructions.wire.intermediary_routing_details).toEqual(swift);
  });
});

describe('limits', () => {
  const wireAt = '/fiat_network_instructions/wire';
  const pairs = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'value']));
  /** Characters are code points: each of these is two UTF-16 units. */
  const emoji = (count: number): string => '🙂'.repeat(count);

  /** Field, the longest that fits, one more. */
  const texts: [string, (length: number) => string, number][] = [
    ['/fiat_account_owner/person_details/first_name', emoji, 140],
    ['/fiat_account_owner/person_details/last_name', emoji, 140],
    [`${wireAt}/routing_details/bank_name`, emoji, 140],
    ...['country', 'address1', 'address2', 'city', 'province'].flatMap((name): typeof texts => [
      [`${wireAt}/fiat_account_owner_address/${name}`, emoji, 140],
      [`${wireAt}/routing_details/bank_address/${name}`, emoji, 140],
    ]),
    [`${wireAt}/fiat_account_owner_address/zip_code`, emoji, 16],
    [`${wireAt}/account_number`, (length) => '1'.repeat(length), 34],
    ['/ref_id', emoji, 128],
    ['/metadata/note', emoji, 100],
  ];

  it.each(texts)('%s may have so many characters and no more', async (pointer, text, max) => {
    expect((await create(changed(pointer, text(max)))).status).toBe(200);
    const before = await service.countRows();
    expectInvalid(await create(changed(pointer, text(max + 1))), pointer);
    expect(await service.countRows()).toEqual(before);
  });

  it('bounds the name of an institution, and accounts on bank networks', async () => {
    const named = (length: number) =>
      changed('/fiat_account_owner', { institution_details: { name: emoji(length) } });
    expect((await create(named(140))).status).toBe(200);
    expectInvalid(await create(named(141)), '/fiat_account_owner/institution_details/name');
    for (const [kind, field, max] of [
      ['cubix', 'account_id', 128],
      ['cbit', 'wallet_address', 128],
      ['bank_network_2', 'account_number', 34],
      ['bank_network_3', 'account_number', 34],
    ] as const) {
      const at = (length: number) =>
        changed('/fiat_network_instructions', { [kind]: { [field]: 'a'.repeat(length) } });
      expect((await create(at(max))).status).toBe(200);
      expectInvalid(await create(at(max + 1)), `/fiat_network_instructions/${kind}/${field}`);
    }
  });

  it('takes six pairs of metadata with keys and values of 100 code points, and not a seventh', async () => {
    const full = { ...pairs(5), [emoji(100)]: emoji(100) };
    const answer = await create({ ...request, metadata: full });
    expect(answer.body.metadata).toEqual(full);
    const before = await service.countRows();
    expectInvalid(await create({ ...request, metadata: pairs(7) }), '/metadata');
    const long = expectProblem(
      await create({ ...request, metadata: { [emoji(101)]: 'value' } }),
      400,
      'invalid-request',
    );
    expect(new Set(long.errors.map((error: { pointer: string }) => error.pointer))).toEqual(
      new Set(['/metadata']),
    );
    expect(await service.countRows()).toEqual(before);
  });

  it('takes empty metadata and an empty value', async () => {
    expect((await create({ ...request, metadata: {} })).body.metadata).toEqual({});
    expect((await create({ ...request, metadata: { note: '' } })).body.metadata).toEqual({ note: '' });
  });
});

describe('what is refused with a 400, and leaves nothing behind', () => {
  let before: Record<string, bigint>;
  beforeEach(async () => {
    before = await service.countRows();
  });
  afterEach(async () => {
    expect(await service.countRows()).toEqual(before);
  });

  const details = '/fiat_network_instructions/wire/routing_details';
  const required = [
    '/fiat_account_owner',
    '/fiat_network_instructions',
    '/fiat_account_owner/person_details/first_name',
    '/fiat_account_owner/person_details/last_name',
    '/fiat_network_instructions/wire/account_number',
    '/fiat_network_instructions/wire/routing_details',
    '/fiat_network_instructions/wire/fiat_account_owner_address',
    '/fiat_network_instructions/wire/fiat_account_owner_address/country',
    `${details}/routing_number_type`,
    `${details}/routing_number`,
    `${details}/bank_name`,
    `${details}/bank_address`,
    `${details}/bank_address/country`,
  ];
  it.each(required)('%s is required', async (pointer) => {
    expectInvalid(await create(changed(pointer, undefined)), pointer);
  });

  it('names all that is missing at once', async () => {
    expectInvalid(await create({}), '/fiat_account_owner', '/fiat_network_instructions');
  });

  const typed = [
    ...required,
    '/fiat_account_owner/person_details',
    '/fiat_network_instructions/wire',
    ...['address1', 'address2', 'city', 'province', 'zip_code'].map(
      (name) => `/fiat_network_instructions/wire/fiat_account_owner_address/${name}`,
    ),
    '/fiat_network_instructions/wire/intermediary_routing_details',
    '/ref_id',
    '/identity_id',
    '/account_id',
    '/metadata',
    '/metadata/note',
  ];
  it.each(typed)('%s of a wrong type is refused, never converted', async (pointer) => {
    for (const wrong of [null, 42, true, [], ['a']]) {
      const answer = await create(changed(pointer, wrong));
      const { errors } = expectProblem(answer, 400, 'invalid-request');
      expect(new Set(errors.map((error: { pointer: string }) => error.pointer))).toEqual(new Set([pointer]));
    }
  });

  it.each(Object.entries(kinds).slice(1))(
    'the fields of %s are required text',
    async (kind, instructions) => {
      const [field] = Object.keys(instructions);
      const pointer = `/fiat_network_instructions/${kind}/${field}`;
      for (const wrong of [undefined, null, 7, '', 'a b', '****6789']) {
        const { errors } = expectProblem(
          await create({
            ...request,
            fiat_network_instructions: { [kind]: wrong === undefined ? {} : { [field!]: wrong } },
          }),
          400,
          'invalid-request',
        );
        expect(new Set(errors.map((error: { pointer: string }) => error.pointer))).toEqual(
          new Set([pointer]),
        );
      }
    },
  );

  it('an institution needs its name', async () => {
    const name = '/fiat_account_owner/institution_details/name';
    expectInvalid(await create(changed('/fiat_account_owner', { institution_details: {} })), name);
    for (const wrong of [null, 7, '   ', 'a\nb']) {
      expectInvalid(
        await create(changed('/fiat_account_owner', { institution_details: { name: wrong } })),
        name,
      );
    }
  });

  it('both forms of owner at once, and neither', async () => {
    const both = changed('/fiat_account_owner', { ...person, ...institution });
    expectInvalid(await create(both), '/fiat_account_owner');
    expectInvalid(await create(changed('/fiat_account_owner', {})), '/fiat_account_owner');
  });

  it('two kinds of instructions at once, all of them, and none', async () => {
    for (const instructions of [{ wire, cubix: kinds.cubix }, kinds, {}]) {
      const answer = await create(changed('/fiat_network_instructions', instructions));
      expectInvalid(answer, '/fiat_network_instructions');
    }
  });

  it.each([
    ['ABA', '02100002'],
    ['ABA', '0210000211'],
    ['ABA', '02100002a'],
    ['ABA', '021 00021'],
    ['ABA', '-21000021'],
    ['ABA', '٠٢١٠٠٠٠٢١'],
    ['ABA', 'CHASUS33'],
    ['SWIFT', '021000021'],
    ['SWIFT', 'CHASUS3'],
    ['SWIFT', 'CHASUS33X'],
    ['SWIFT', 'CHASUS33XX'],
    ['SWIFT', 'chasus33'],
    ['SWIFT', 'CHAS1S33'],
    ['SWIFT', 'CHASUS3 '],
    ['SWIFT', 'CHASUS3É'],
  ])('an %s routing number of a wrong shape: %s', async (routing_number_type, routing_number) => {
    const broken = { ...aba, routing_number_type, routing_number };
    expectInvalid(await create(changed(details, broken)), `${details}/routing_number`);
    const between = '/fiat_network_instructions/wire/intermediary_routing_details';
    expectInvalid(await create(changed(between, broken)), `${between}/routing_number`);
  });

  it.each(['aba', 'IBAN', '', 'ACH'])('the routing number type "%s"', async (type) => {
    const pointer = `${details}/routing_number_type`;
    expectInvalid(await create(changed(pointer, type)), pointer);
  });

  it('an account number with blanks, a sign or a mask', async () => {
    const pointer = '/fiat_network_instructions/wire/account_number';
    for (const number of ['12 34', '-1234', '****6789', ' 1234', '12.34', '１２３４']) {
      expectInvalid(await create(changed(pointer, number)), pointer);
    }
  });

  it('names that are blank or have control characters', async () => {
    for (const name of ['', '  ', '\u00a0', 'a\nb', 'a\u0007']) {
      const { errors } = expectProblem(
        await create(changed('/fiat_account_owner/person_details/first_name', name)),
        400,
        'invalid-request',
      );
      expect(errors[0].pointer).toBe('/fiat_account_owner/person_details/first_name');
    }
  });

  it.each([
    '',
    '/fiat_account_owner',
    '/fiat_account_owner/person_details',
    '/fiat_network_instructions',
    '/fiat_network_instructions/wire',
    '/fiat_network_instructions/wire/fiat_account_owner_address',
    details,
    `${details}/bank_address`,
  ])('an unknown field in "%s"', async (pointer) => {
    expectInvalid(await create(changed(`${pointer}/nickname`, 'x')), `${pointer}/nickname`);
  });

  it('fields that only answers have', async () => {
    expectInvalid(
      await create({ ...request, id: newId(), status: 'APPROVED', created_at: '2026-01-01T00:00:00Z' }),
      '/id',
      '/status',
      '/created_at',
    );
  });

  it('ids that are not UUIDs in lower case', async () => {
    for (const id of ['', 'x', newId().toUpperCase(), `${newId()} `]) {
      const wrong = { ...request, identity_id: id, account_id: id };
      expectInvalid(await create(wrong), '/identity_id', '/account_id');
    }
  });

  it('a ref_id that is empty or not printable', async () => {
    for (const ref_id of ['', 'a\nb', '\u200b']) {
      expectProblem(await create({ ...request, ref_id }), 400, 'invalid-request');
    }
  });

  it('bodies that are no JSON object', async () => {
    for (const body of ['', '{', '[]', 'null', '"text"', '7']) {
      const answer = await alice.call('POST', PATH, body, { 'content-type': 'application/json' });
      expectProblem(answer, 400, 'invalid-request');
    }
  });

  it('a query parameter, which the operation does not know', async () => {
    expectInvalid(await alice.call('POST', `${PATH}?dry_run=true`, request), '/query/dry_run');
  });

  it('a third-party integration that does not say for whom', async () => {
    expectInvalid(await create(request, platform), '/identity_id', '/account_id');
    const identity_id = await identityOf(platform);
    before = await service.countRows();
    expectInvalid(await create({ ...request, identity_id }, platform), '/account_id');
    const broken = { ...changed('/fiat_account_owner', {}), identity_id };
    expectInvalid(await create(broken, platform), '/account_id', '/fiat_account_owner');
  });

  it('an identity that neither owns the account nor is its member', async () => {
    const identity_id = await identityOf(alice);
    const account_id = await accountOf(alice, await identityOf(alice));
    before = await service.countRows();
    expectInvalid(await create({ ...request, identity_id, account_id }), '/account_id');
  });
});

describe('other refusals, which leave nothing behind either', () => {
  async function expectRefusal(answer: () => Promise<Answer>, status: number, slug: string): Promise<any> {
    const before = await service.countRows();
    const meta = expectProblem(await answer(), status, slug);
    expect(await service.countRows()).toEqual(before);
    return meta;
  }

  it('401 without a token, or with a wrong one', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nonsense', 'Basic YTpi']) {
      const answer = () => alice.call('POST', PATH, request, { authorization });
      await expectRefusal(answer, 401, 'unauthenticated');
      expect((await answer()).headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('403 when the token lacks the scope, before the body is looked at', async () => {
    const reader = await service.createCustomer({ scopes: ['transfer:read_fiat_account'] });
    const meta = await expectRefusal(() => create({ nonsense: 1 }, reader), 403, 'insufficient-scope');
    expect(meta).toEqual({
      required: 'transfer:write_fiat_account',
      found: ['transfer:read_fiat_account'],
    });
  });

  it('403 for a disabled identity', async () => {
    const identity_id = await identityOf(alice, 'DISABLED');
    const meta = await expectRefusal(() => create({ ...request, identity_id }), 403, 'forbidden');
    expect(meta).toEqual({ identity_id });
  });

  it("404 for an identity or account that is unknown or another customer's", async () => {
    const theirs = await identityOf(bob);
    const their_account = await accountOf(bob, theirs);
    for (const id of [newId(), theirs]) {
      const meta = await expectRefusal(() => create({ ...request, identity_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'identity', id });
    }
    for (const id of [newId(), their_account]) {
      const meta = await expectRefusal(() => create({ ...request, account_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'account', id });
    }
  });

  it('405 for a method that the path does not know', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = () => alice.call(method, PATH, request);
      await expectRefusal(answer, 405, 'method-not-allowed');
      expect((await answer()).headers.get('allow')).toContain('POST');
    }
  });

  it('413 for a body of more than 256 KiB', async () => {
    const large = JSON.stringify({ ...request, metadata: { note: 'x'.repeat(256 * 1024) } });
    await expectRefusal(() => create(large), 413, 'payload-too-large');
  });

  it('415 for a body that is not sent as JSON', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const answer = () => alice.call('POST', PATH, JSON.stringify(request), { 'content-type': type });
      await expectRefusal(answer, 415, 'unsupported-media-type');
    }
  });

  it('409 when the ref_id was used for another request, with the first record and what differs', async () => {
    const first = await create({ ...request, ref_id: 'conflict', metadata: { a: '1' } });
    const other = { ...changed('/fiat_network_instructions/wire/account_number', '999'), ref_id: 'conflict' };
    const meta = await expectRefusal(() => create(other), 409, 'already-exists');
    expect(meta.differs).toEqual(['fiat_network_instructions', 'metadata']);
    expect(meta.existing.id).toBe(first.body.id);
    expect(JSON.stringify(meta)).not.toContain(NUMBER);
  });
});

describe('replays', () => {
  /** The owner's city is missing: an operator has to look, so the account stays PENDING. */
  const waiting = changed('/fiat_network_instructions/wire/fiat_account_owner_address/city', undefined);

  it('an equal request gets the same record, whatever the order of its keys', async () => {
    const first = await create({ ...waiting, ref_id: 'again', metadata: { a: '1', b: '2' } });
    const before = await service.countRows();
    const replay = await create({
      metadata: { b: '2', a: '1' },
      ref_id: 'again',
      fiat_network_instructions: waiting.fiat_network_instructions,
      fiat_account_owner: waiting.fiat_account_owner,
    });
    expect(replay.status).toBe(200);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.body).toEqual(first.body);
    expect(await service.countRows()).toEqual(before);
  });

  it('shows the record as it is now: approved meanwhile, or deleted', async () => {
    const first = await create({ ...request, ref_id: 'moves on' });
    const approved = await create({ ...request, ref_id: 'moves on' });
    expect(approved.body).toEqual({
      ...first.body,
      status: 'APPROVED',
      updated_at: expect.any(String),
    });
    await alice.call('DELETE', `${PATH}/${first.body.id}`);
    const deleted = await create({ ...request, ref_id: 'moves on' });
    expect(deleted.body).toMatchObject({ id: first.body.id, deleted_at: expect.any(String) });
  });

  it('without a ref_id each request makes an account', async () => {
    const [one, two] = [await create(request), await create(request)];
    expect(one.body.id).not.toBe(two.body.id);
  });

  it('a ref_id belongs to one customer and one kind of resource', async () => {
    const profile = await service.createProfile(alice, { USD: '1' });
    const transfer = await alice.call('POST', '/v2/transfer/platform', {
      from_profile_id: profile,
      to_profile_id: await service.createProfile(alice),
      amount: '1',
      asset: 'USD',
      ref_id: 'shared',
    });
    expect(transfer.status).toBe(200);
    const mine = await create({ ...request, ref_id: 'shared' });
    const theirs = await create({ ...request, ref_id: 'shared' }, bob);
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(mine.body.id).not.toBe(theirs.body.id);
  });

  it('a refused request does not use up its ref_id', async () => {
    const identity_id = await identityOf(alice, 'DISABLED');
    const body = { ...waiting, ref_id: 'later', identity_id };
    expectProblem(await create(body), 403, 'forbidden');
    await service.database.query(`update identities set status = 'APPROVED' where id = $1`, [identity_id]);
    const answer = await create(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('50 equal requests at once make one account and get 50 equal answers', async () => {
    const before = await service.countRows();
    const body = { ...waiting, ref_id: 'rush' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(answers[0]!.body);
    }
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(49);
    expect(await service.countRows()).toEqual({
      ...before,
      fiat_accounts: before.fiat_accounts! + 1n,
      idempotency_keys: before.idempotency_keys! + 1n,
      events: before.events! + 1n,
    });
  });

  it('of 50 different requests with one ref_id at once, one wins and the others are told so', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        create({ ...waiting, ref_id: 'race', metadata: { index: `${index}` } }),
      ),
    );
    const winners = answers.filter((answer) => answer.status === 200);
    expect(winners).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      const meta = expectProblem(answer, 409, 'already-exists');
      expect(meta).toEqual({ existing: winners[0]!.body, differs: ['metadata'] });
    }
  });
});

it('a third-party integration registers an account for the identity that owns it, or is a member', async () => {
  const identity_id = await identityOf(platform);
  const account_id = await accountOf(platform, identity_id);
  const owner = await create({ ...request, identity_id, account_id }, platform);
  expect(owner.body).toMatchObject({ identity_id, account_id, status: 'PENDING' });
  const member = await identityOf(platform);
  await service.database.query(
    `insert into account_members (id, customer_id, account_id, identity_id, roles, created_at_ns)
     values ($1, $2, $3, $4, '{AUTHORIZED_USER}', 0)`,
    [newId(), platform.id, account_id, member],
  );
  expect((await create({ ...request, identity_id: member, account_id }, platform)).status).toBe(200);
});
